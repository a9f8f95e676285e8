"""The authorizer against a model, with any ACLs in any order of creation and deletion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.broker.security.acl.acls import AclBinding, AclFilter, Acls
from fauxka.broker.security.acl.prefix_tree import CHUNK, PrefixTree
from fauxka.broker.security.acl.standard_authorizer import StandardAuthorizer
from fauxka.broker.security.principal import Client, Principal
from fauxka.protocol.acl_types import AclOperation, AclPermission, PatternType, ResourceType

from .authorizer_model import Question, is_allowed, is_allowed_somewhere

# Few of each, so that ACLs and questions meet.
NAMES = st.text("ab", min_size=1, max_size=3)
# Around the length of a chunk, and around that of two.
LONG_NAMES = st.lists(st.sampled_from(["a", "b", "a" * (CHUNK - 1), "a" * CHUNK]), min_size=1, max_size=4).map("".join)
TYPES = st.sampled_from([ResourceType.TOPIC, ResourceType.GROUP])
PATTERN_TYPES = st.sampled_from([PatternType.LITERAL, PatternType.PREFIXED])
USERS = st.sampled_from(["alice", "bob"])
HOSTS = st.sampled_from(["10.0.0.1", "10.0.0.2"])
OPERATIONS = st.sampled_from(
    [
        *(AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE, AclOperation.ALTER, AclOperation.CREATE),
        *(AclOperation.DESCRIBE, AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS),
    ]
)
ACLS = st.builds(
    AclBinding,
    TYPES,
    st.just("*") | NAMES,
    PATTERN_TYPES,
    st.just("User:*") | USERS.map("User:{}".format),
    st.just("*") | HOSTS,
    OPERATIONS | st.just(AclOperation.ALL),
    st.sampled_from([AclPermission.ALLOW, AclPermission.DENY]),
)
QUESTIONS = st.tuples(USERS.map("User:{}".format), HOSTS, OPERATIONS, TYPES, NAMES)
FILTERS = st.builds(
    AclFilter,
    TYPES | st.just(ResourceType.ANY),
    st.none() | st.just("*") | NAMES,
    PATTERN_TYPES | st.sampled_from([PatternType.ANY, PatternType.MATCH]),
    st.none() | USERS.map("User:{}".format),
    st.none() | HOSTS,
    OPERATIONS | st.just(AclOperation.ANY),
    st.sampled_from([AclPermission.ANY, AclPermission.ALLOW, AclPermission.DENY]),
)


def acls_of(created: Sequence[AclBinding], deleted: Sequence[AclBinding] = ()) -> Acls:
    acls = Acls()
    for acl in created:
        acls.add(acl)
    for acl in dict.fromkeys(deleted):
        if acl in acls:
            acls.discard(acl)
    return acls


def client_of(principal: str, host: str) -> Client:
    return Client(Principal(principal.removeprefix("User:")), host)


@given(
    st.lists(ACLS, max_size=8),
    st.lists(QUESTIONS, min_size=1, max_size=8),
    st.booleans(),
    # Its type is a part of a super user, and its name is not without it.
    st.sets(st.sampled_from(["User:alice", "Group:alice", "alice", "User:*"])),
    st.data(),
)
def test_authorizer_answers_as_the_model(
    created: list[AclBinding],
    questions: list[Question],
    without_acl: bool,
    super_users: set[str],
    data: st.DataObject,
) -> None:
    deleted = data.draw(st.lists(st.sampled_from(created), max_size=4)) if created else []
    acls, left = acls_of(created, deleted), [acl for acl in created if acl not in deleted]
    authorizer = StandardAuthorizer(super_users, allows_without_acl=without_acl)

    for principal, host, operation, resource_type, name in questions:
        question = (principal, host, operation, resource_type, name)
        client = client_of(principal, host)
        allowed = authorizer.allows(acls, client, operation, resource_type, name)
        assert allowed == is_allowed(left, question, without_acl=without_acl, super_users=super_users), question


@given(st.lists(ACLS, max_size=8), QUESTIONS)
def test_client_that_may_use_a_resource_may_use_some_resource(created: list[AclBinding], question: Question) -> None:
    principal, host, operation, resource_type, name = question
    acls, client = acls_of(created), client_of(principal, host)
    authorizer = StandardAuthorizer([], allows_without_acl=False)
    is_implied = not any(acl.operation in (operation, AclOperation.ALL) for acl in created)

    if authorizer.allows(acls, client, operation, resource_type, name) and not is_implied:
        # By an ACL for the operation itself; what others imply is not counted, as in Kafka.
        direct = acls_of([acl for acl in created if acl.operation in (operation, AclOperation.ALL)])
        if authorizer.allows(direct, client, operation, resource_type, name):
            assert authorizer.allows_any(acls, client, operation, resource_type)


@given(st.lists(ACLS, max_size=8))
def test_super_user_may_do_everything(created: list[AclBinding]) -> None:
    authorizer = StandardAuthorizer(["User:alice"], allows_without_acl=False)
    client = client_of("User:alice", "10.0.0.1")

    assert authorizer.allows(acls_of(created), client, AclOperation.WRITE, ResourceType.TOPIC, "a")
    assert authorizer.allows_any(acls_of(created), client, AclOperation.WRITE, ResourceType.TOPIC)


@given(st.lists(ACLS, max_size=8), FILTERS)
def test_filter_means_the_acls_that_have_all_its_fields(created: list[AclBinding], acl_filter: AclFilter) -> None:
    for acl in acls_of(created):
        fields_match = (
            acl_filter.resource_type in (ResourceType.ANY, acl.resource_type)
            and acl_filter.principal in (None, acl.principal)
            and acl_filter.host in (None, acl.host)
            and acl_filter.operation in (AclOperation.ANY, acl.operation)
            and acl_filter.permission in (AclPermission.ANY, acl.permission)
        )
        name_matches = acl_filter.name in (None, acl.name)
        if acl_filter.pattern_type is PatternType.MATCH and acl_filter.name is not None:
            name_matches = acl.name in ("*", acl_filter.name) or acl_filter.name == acl.name
            if acl.pattern_type is PatternType.PREFIXED:
                name_matches = acl_filter.name.startswith(acl.name)
        type_matches = acl_filter.pattern_type in (PatternType.ANY, PatternType.MATCH, acl.pattern_type)
        assert acl_filter.matches(acl) == (fields_match and name_matches and type_matches)


def test_model_decides_each_rule() -> None:
    """The cases that the property test must tell apart, written out."""
    read = AclBinding(
        ResourceType.TOPIC, "a", PatternType.PREFIXED, "User:*", "*", AclOperation.READ, AclPermission.ALLOW
    )
    question = ("User:bob", "10.0.0.1", AclOperation.READ, ResourceType.TOPIC, "ab")
    describe = ("User:bob", "10.0.0.1", AclOperation.DESCRIBE, ResourceType.TOPIC, "ab")
    denied = read._replace(permission=AclPermission.DENY, principal="User:bob", host="10.0.0.1")

    assert is_allowed([read], question, without_acl=False)
    assert is_allowed([read], describe, without_acl=False)
    assert not is_allowed([read, denied], question, without_acl=True)
    assert is_allowed([read, denied], describe, without_acl=False)
    assert is_allowed([read, denied._replace(host="10.0.0.2")], question, without_acl=False)
    assert is_allowed([read, denied], question, without_acl=False, super_users={"User:bob"})


@given(st.lists(ACLS, max_size=8), QUESTIONS)
def test_some_resource_is_allowed_as_in_the_model(created: list[AclBinding], question: Question) -> None:
    principal, host, operation, resource_type, _ = question
    authorizer = StandardAuthorizer([], allows_without_acl=False)

    allowed = authorizer.allows_any(acls_of(created), client_of(principal, host), operation, resource_type)
    assert allowed == is_allowed_somewhere(created, question)


@given(st.lists(ACLS, max_size=12), st.data())
def test_filter_finds_what_a_look_at_every_acl_finds(created: list[AclBinding], data: st.DataObject) -> None:
    deleted = data.draw(st.lists(st.sampled_from(created), max_size=4)) if created else []
    acl_filter = data.draw(FILTERS)
    acls = acls_of(created, deleted)

    assert acls.matching(acl_filter) == [acl for acl in acls if acl_filter.matches(acl)]


@given(st.lists(LONG_NAMES, unique=True), st.data())
def test_prefixes_of_a_name_are_found_whatever_their_lengths(added: list[str], data: st.DataObject) -> None:
    tree = PrefixTree()
    for prefix in added:
        tree.add(prefix)
    removed = data.draw(st.sets(st.sampled_from(added))) if added else set[str]()
    for prefix in removed:
        tree.remove(prefix)
    name = data.draw(LONG_NAMES)

    assert sorted(tree.prefixes_of(name)) == sorted(p for p in set(added) - removed if name.startswith(p))


class CountedText(str):
    """A text that counts how often any of its kind is looked for, compared, or cut."""

    looks = 0

    def __getitem__(self, key: SupportsIndex | slice) -> CountedText:
        CountedText.looks += 1
        return CountedText(super().__getitem__(key))

    def __hash__(self) -> int:
        CountedText.looks += 1
        return super().__hash__()

    def __eq__(self, other: object) -> bool:
        CountedText.looks += 1
        return super().__eq__(other)


class CountedPrincipal(Principal):
    def __str__(self) -> str:
        return CountedText(f"{self.type}:{self.name}")


def group_acl(name: str, pattern_type: PatternType = PatternType.PREFIXED, principal: str = "User:alice") -> AclBinding:
    return AclBinding(ResourceType.GROUP, name, pattern_type, principal, "*", AclOperation.READ, AclPermission.ALLOW)


ACL_COUNT = 20_000
LENGTHS = 4000
# A part is cut, hashed and compared for each length within a chunk of the name.
LOOKS_MAX = 4 * CHUNK
MANY_ACLS: dict[str, Callable[[], Iterable[AclBinding]]] = {
    "prefixes": lambda: (group_acl(f"{each:06}") for each in range(ACL_COUNT)),
    "lengths": lambda: (group_acl("bcdef"[each % 5] + "a" * (each // 5)) for each in range(ACL_COUNT)),
    "prefixes of the name": lambda: (group_acl("a" * each, principal="User:bob") for each in range(1, LENGTHS)),
    "principals": lambda: (group_acl("a", PatternType.LITERAL, f"User:{each}") for each in range(ACL_COUNT)),
    "hosts": lambda: (group_acl("a", PatternType.LITERAL)._replace(host=f"host {each}") for each in range(ACL_COUNT)),
}


@pytest.mark.parametrize("many", MANY_ACLS)
def test_work_of_an_authorization_does_not_grow_with_the_acls(many: str) -> None:
    acls, client = acls_of(list(MANY_ACLS[many]())), Client(CountedPrincipal("alice"), CountedText("10.0.0.1"))
    authorizer = StandardAuthorizer([], allows_without_acl=False)

    for name in map(CountedText, ["a" * LENGTHS] * 200 + ["a"] * 100):
        CountedText.looks = 0
        assert not authorizer.allows(acls, client, AclOperation.READ, ResourceType.GROUP, name)
        assert CountedText.looks <= LOOKS_MAX


def test_work_with_own_prefixes_of_a_name_grows_with_their_lengths_only() -> None:
    lengths = [1, 249, 512, 513, 1024, 20_000]
    acls = acls_of([group_acl("a" * length) for length in lengths] + [group_acl(f"b{each}") for each in range(1000)])
    authorizer = StandardAuthorizer([], allows_without_acl=False)
    client = client_of("User:alice", "10.0.0.1")
    name = CountedText("a" * 30_000)

    CountedText.looks = 0
    assert authorizer.allows(acls, client, AclOperation.READ, ResourceType.GROUP, name)
    # Four each: for the lengths, for those of b0 to b999, and for the chunks of the name.
    assert CountedText.looks <= 4 * (len(lengths) + 3 + len(name) // CHUNK + 1)
