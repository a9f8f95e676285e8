"""The commands of fauxka that call the admin API of a running broker. Imported by none of its parts."""
