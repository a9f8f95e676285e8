"""What goes wrong on purpose, and when: plain synchronous code without a socket, an event loop or a clock."""
