"""XXH3, the 64-bit hash that Kafka makes of what a group's topics look like; without a seed, with the default secret.

Source: the XXH3 specification (xxHash 0.8), and Hashing.xxh3_64 of hash4j, which Kafka 4.3.0 calls.
"""

from __future__ import annotations

import struct

_MASK = 2**64 - 1
_MASK_32 = 2**32 - 1

_PRIME32_1 = 0x9E3779B1
_PRIME32_2 = 0x85EBCA77
_PRIME32_3 = 0xC2B2AE3D
_PRIME64_1 = 0x9E3779B185EBCA87
_PRIME64_2 = 0xC2B2AE3D27D4EB4F
_PRIME64_3 = 0x165667B19E3779F9
_PRIME64_4 = 0x85EBCA77C2B2AE63
_PRIME64_5 = 0x27D4EB2F165667C5
_PRIME_MX1 = 0x165667919E3779F9
_PRIME_MX2 = 0x9FB21C651E98DF25

_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)

_STRIPE_BYTES = 64
_SECRET_STEP = 8
_STRIPES_OF_A_BLOCK = (len(_SECRET) - _STRIPE_BYTES) // _SECRET_STEP
_BLOCK_BYTES = _STRIPE_BYTES * _STRIPES_OF_A_BLOCK

_INT32 = struct.Struct("<I")
_INT64 = struct.Struct("<Q")
_STRIPE = struct.Struct("<8Q")


def xxh3_64(data: bytes) -> int:
    """Return the hash of the bytes as an unsigned 64-bit number; of none, 0x2d06800538d394c2."""
    length = len(data)
    if length <= 16:
        return _hash_up_to_16(data)
    if length <= 128:
        return _hash_up_to_128(data)
    if length <= 240:
        return _hash_up_to_240(data)
    return _hash_long(data)


def _int32(data: bytes, position: int) -> int:
    number: int = _INT32.unpack_from(data, position)[0]
    return number


def _int64(data: bytes, position: int) -> int:
    number: int = _INT64.unpack_from(data, position)[0]
    return number


def _secret(position: int) -> int:
    return _int64(_SECRET, position)


def _folded_product(left: int, right: int) -> int:
    product = left * right
    return product & _MASK ^ product >> 64


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> 64 - bits) & _MASK


def _reversed(value: int) -> int:
    return int.from_bytes(value.to_bytes(8, "little"), "big")


def _avalanche(value: int) -> int:
    value ^= value >> 37
    value = value * _PRIME_MX1 & _MASK
    return value ^ value >> 32


def _avalanche_64(value: int) -> int:
    value ^= value >> 33
    value = value * _PRIME64_2 & _MASK
    value ^= value >> 29
    value = value * _PRIME64_3 & _MASK
    return value ^ value >> 32


def _hash_up_to_16(data: bytes) -> int:
    length = len(data)
    if length > 8:
        low = _int64(data, 0) ^ _secret(24) ^ _secret(32)
        high = _int64(data, length - 8) ^ _secret(40) ^ _secret(48)
        return _avalanche((length + _reversed(low) + high + _folded_product(low, high)) & _MASK)
    if length >= 4:
        keyed = _int32(data, length - 4) + (_int32(data, 0) << 32) ^ _secret(8) ^ _secret(16)
        keyed ^= _rotated(keyed, 49) ^ _rotated(keyed, 24)
        keyed = keyed * _PRIME_MX2 & _MASK
        keyed ^= (keyed >> 35) + length
        keyed = keyed * _PRIME_MX2 & _MASK
        return keyed ^ keyed >> 28
    if length:
        combined = data[0] << 16 | data[length >> 1] << 24 | data[-1] | length << 8
        return _avalanche_64(combined ^ _int32(_SECRET, 0) ^ _int32(_SECRET, 4))
    return _avalanche_64(_secret(56) ^ _secret(64))


def _mixed(data: bytes, position: int, secret_position: int) -> int:
    """Return what 16 bytes add to a hash."""
    return _folded_product(
        _int64(data, position) ^ _secret(secret_position), _int64(data, position + 8) ^ _secret(secret_position + 8)
    )


def _hash_up_to_128(data: bytes) -> int:
    length = len(data)
    accumulator = length * _PRIME64_1
    # Pairs of 16 bytes from both ends, so that short inputs are covered with overlaps.
    for pair in range((length - 1) // 32 + 1):
        accumulator += _mixed(data, 16 * pair, 32 * pair)
        accumulator += _mixed(data, length - 16 * (pair + 1), 32 * pair + 16)
    return _avalanche(accumulator & _MASK)


def _hash_up_to_240(data: bytes) -> int:
    length = len(data)
    accumulator = length * _PRIME64_1
    for index in range(8):
        accumulator += _mixed(data, 16 * index, 16 * index)
    accumulator = _avalanche(accumulator & _MASK)
    for index in range(8, length // 16):
        accumulator += _mixed(data, 16 * index, 16 * (index - 8) + 3)
    accumulator += _mixed(data, length - 16, 136 - 17)
    return _avalanche(accumulator & _MASK)


def _hash_long(data: bytes) -> int:
    length = len(data)
    lanes = [_PRIME32_3, _PRIME64_1, _PRIME64_2, _PRIME64_3, _PRIME64_4, _PRIME32_2, _PRIME64_5, _PRIME32_1]
    for stripe in range((length - 1) // _STRIPE_BYTES):
        in_block = stripe % _STRIPES_OF_A_BLOCK
        _accumulate(lanes, data, _STRIPE_BYTES * stripe, _SECRET_STEP * in_block)
        if in_block == _STRIPES_OF_A_BLOCK - 1:
            _scramble(lanes)
    _accumulate(lanes, data, length - _STRIPE_BYTES, len(_SECRET) - _STRIPE_BYTES - 7)
    merged = length * _PRIME64_1
    for index in range(4):
        left, right = lanes[2 * index], lanes[2 * index + 1]
        merged += _folded_product(left ^ _secret(11 + 16 * index), right ^ _secret(19 + 16 * index))
    return _avalanche(merged & _MASK)


def _accumulate(lanes: list[int], data: bytes, position: int, secret_position: int) -> None:
    words = _STRIPE.unpack_from(data, position)
    keys = _STRIPE.unpack_from(_SECRET, secret_position)
    for index in range(8):
        keyed = words[index] ^ keys[index]
        lanes[index ^ 1] = lanes[index ^ 1] + words[index] & _MASK
        lanes[index] = lanes[index] + (keyed & _MASK_32) * (keyed >> 32) & _MASK


def _scramble(lanes: list[int]) -> None:
    keys = _STRIPE.unpack_from(_SECRET, len(_SECRET) - _STRIPE_BYTES)
    for index, lane in enumerate(lanes):
        lanes[index] = (lane ^ lane >> 47 ^ keys[index]) * _PRIME32_1 & _MASK
