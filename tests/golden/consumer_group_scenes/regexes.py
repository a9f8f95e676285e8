"""Subscriptions by regular expression."""

from ..consumer_group_client import ConsumerMember
from ..consumer_group_recorder import ConsumerGroupRecorder
from .heartbeats import TOPIC

INVALID = ["(", "[", "a**", "a)", "\\", "[z-a]", "(?<=a)b", "\\1", "a{1001}", "(?P<n>a)(?P<n>b)", "\\pX", "*"]


def regexes(recorder: ConsumerGroupRecorder) -> None:
    """Members subscribe by regular expressions, change them, and give them up."""
    for text in INVALID:
        member = ConsumerMember(recorder, "regex-refused", "a")
        member.join(f"subscribes to {text}", subscribed_topic_names=None, subscribed_topic_regex=text)
    recorder.describe_case("is not there", "regex-refused")
    a = ConsumerMember(recorder, "regex", "a")
    a.join("subscribes by a regular expression", subscribed_topic_names=None, subscribed_topic_regex="ki[p]")
    recorder.expect_epoch("regex", 2)
    recorder.describe_case("knows the topics", "regex")
    a.beat("gets them")
    a.own()
    b = ConsumerMember(recorder, "regex", "b")
    b.join("subscribes by the same", subscribed_topic_names=None, subscribed_topic_regex="ki[p]")
    a.beat("is told to give up")
    a.own("has given up")
    b.beat("gets its partitions")
    recorder.describe_case("with two", "regex")
    b.beat("subscribes by name too", subscribed_topic_names=["kip-second"])
    recorder.describe_case("by name too", "regex")
    b.beat("gives the regular expression up", subscribed_topic_regex="")
    recorder.describe_case("without the regular expression of one", "regex")
    a.beat("subscribes by name", subscribed_topic_regex="", subscribed_topic_names=[TOPIC])
    recorder.describe_case("without regular expressions", "regex")
    recorder.kept("kept", "regex")
