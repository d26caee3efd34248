"""The world behind the ports, one library a module. Nothing here decides anything."""
