"""The commands as a newcomer sees them: names, help, examples. What they do lies in the modules of the room itself."""
