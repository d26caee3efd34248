"""What an upstream's files and history say of a recipe: comparison, imports, options, containment. Pure: over trees and histories
that are given."""
