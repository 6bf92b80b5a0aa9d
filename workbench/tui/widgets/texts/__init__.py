"""Fields in which texts are edited, inert on the screen."""
