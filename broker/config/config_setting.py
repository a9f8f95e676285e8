"""One key of the broker's configuration as an attribute."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar, overload

from .config_types import ConfigValue

T = TypeVar("T")


class HasValues(Protocol):
    """What a setting is read from."""

    def value_of(self, name: str) -> ConfigValue:
        """Return the value of a key, or its default."""
        ...


class Setting(Generic[T]):
    """One key as an attribute; the value is kept in the instance at its first use."""

    def __init__(self, name: str, python_type: type[T]) -> None:
        """Tie the attribute to the key called name."""
        self.name = name
        self.python_type = python_type
        self.attribute = name.replace(".", "_")

    def __set_name__(self, owner: type, attribute: str) -> None:
        """Remember the attribute's name."""
        self.attribute = attribute

    @overload
    def __get__(self, instance: None, owner: type) -> Setting[T]: ...

    @overload
    def __get__(self, instance: HasValues, owner: type) -> T: ...

    def __get__(self, instance: HasValues | None, owner: type) -> T | Setting[T]:
        """Return the value; raises ConfigError never, as every value was read when the configuration was made."""
        if instance is None:
            return self
        value = instance.value_of(self.name)
        assert isinstance(value, self.python_type), f"{self.name} is {value!r}"
        # Found before this descriptor from now on, as it defines no __set__.
        vars(instance)[self.attribute] = value
        return value
