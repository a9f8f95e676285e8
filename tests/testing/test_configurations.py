"""Several configurations in one pytest session: the fixtures fauxka_config and fauxka_as_version, overridden."""

from pathlib import Path

import pytest

from .child_pytest import prepare, run_tests

pytestmark = pytest.mark.processes

pytest_plugins = ["pytester"]

# A module whose tests need a number of partitions; the placeholder is the number.
MODULE = """
import pytest

@pytest.fixture(scope="session")
def fauxka_config():
    return {{"num.partitions": "{partitions}"}}

@pytest.mark.parametrize("time", range(2))
def test_configured(fauxka, fauxka_bootstrap, faults, time):
    assert fauxka.cluster.node.config.num_partitions == {partitions}
    assert fauxka.bootstrap_servers == fauxka_bootstrap
    assert faults is fauxka.faults
"""
DEFAULT = """
def test_default(fauxka):
    assert fauxka.cluster.node.config.num_partitions == 1
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    return prepare(pytester, monkeypatch)


@pytest.mark.parametrize("order", [("test_three", "test_five", "test_one"), ("test_one", "test_five", "test_three")])
def test_each_module_has_its_own_configuration_in_any_order(run: pytest.Pytester, order: tuple[str, ...]) -> None:
    run.makepyfile(test_three=MODULE.format(partitions=3), test_five=MODULE.format(partitions=5), test_one=DEFAULT)

    run_tests(run, *(f"{name}.py" for name in order)).assert_outcomes(passed=5)


def test_modules_with_the_same_configuration_share_a_broker_after_another_one(run: pytest.Pytester) -> None:
    module = MODULE.format(partitions=3) + "\n\ndef test_broker(fauxka):\n    print('BROKER', id(fauxka))\n"
    run.makepyfile(test_first=module, test_other=MODULE.format(partitions=5), test_third=module)

    result = run_tests(run, "-s", "test_first.py", "test_other.py", "test_third.py")

    result.assert_outcomes(passed=8)
    brokers = [line.split("BROKER")[1].split()[0] for line in result.outlines if "BROKER" in line]
    assert len(brokers) == 2
    assert brokers[0] == brokers[1]


def test_all_brokers_are_stopped_at_the_end_of_the_session(run: pytest.Pytester) -> None:
    run.makeconftest("""
import threading

def pytest_unconfigure():
    print("BROKERS", [thread.name for thread in threading.enumerate() if thread.name == "fauxka"])
""")
    run.makepyfile(test_three=MODULE.format(partitions=3), test_one=DEFAULT)

    result = run_tests(run, "-s")

    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["BROKERS *[[]]"])


def test_a_class_and_a_folder_have_their_own_configurations(run: pytest.Pytester) -> None:
    folder = run.mkdir("sub")
    (folder / "conftest.py").write_text(MODULE.format(partitions=3).partition("@pytest.mark")[0])
    (folder / "test_sub.py").write_text("""
import pytest

def test_folder(fauxka):
    assert fauxka.cluster.node.config.num_partitions == 3

class TestOverride:
    @pytest.fixture
    def fauxka_config(self):
        return {"num.partitions": "5"}

    def test_class(self, fauxka):
        assert fauxka.cluster.node.config.num_partitions == 5

def test_folder_again(fauxka):
    assert fauxka.cluster.node.config.num_partitions == 3
""")
    run.makepyfile(test_top=DEFAULT)

    run_tests(run).assert_outcomes(passed=4)


def test_a_configuration_of_any_scope_may_have_parameters(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest

@pytest.fixture(params=["1", "3"])
def fauxka_config(request):
    return {"num.partitions": request.param}

@pytest.fixture(scope="module", params=["2.4", "4.3"])
def fauxka_as_version(request):
    return request.param

def test_configured(fauxka, fauxka_config, fauxka_as_version):
    assert fauxka.cluster.node.config.num_partitions == int(fauxka_config["num.partitions"])
    assert fauxka.cluster.node.emulated_version.name == fauxka_as_version
""")

    run_tests(run).assert_outcomes(passed=4)


def test_the_version_belongs_to_the_configuration(run: pytest.Pytester) -> None:
    module = """
import pytest

@pytest.fixture(scope="session")
def fauxka_as_version():
    return "{version}"

def test_version(fauxka):
    assert fauxka.cluster.node.emulated_version.name == "{version}"
"""
    run.makepyfile(test_old=module.format(version="2.4"), test_older=module.format(version="1.0"), test_one=DEFAULT)

    run_tests(run, "--fauxka-as-version", "3.0").assert_outcomes(passed=3)


def test_a_module_may_add_keys_to_those_of_the_ini_file(run: pytest.Pytester) -> None:
    run.makeini("[pytest]\nfauxka_config =\n    num.partitions=3\n")
    run.makepyfile("""
import pytest

@pytest.fixture(scope="session")
def fauxka_config(fauxka_config):
    return {**fauxka_config, "auto.create.topics.enable": "false"}

def test_configured(fauxka):
    config = fauxka.cluster.node.config
    assert (config.num_partitions, config.auto_create_topics_enable) == (3, False)
""")

    run_tests(run).assert_outcomes(passed=1)


def test_the_session_broker_of_another_configuration_is_an_error_that_names_both(run: pytest.Pytester) -> None:
    module = MODULE + "\n\ndef test_session(fauxka_broker):\n    pass\n"
    run.makepyfile(test_three=module.format(partitions=3), test_five=module.format(partitions=5))

    result = run_tests(run, "test_three.py", "test_five.py")

    result.assert_outcomes(passed=5, errors=1)
    result.stdout.fnmatch_lines(
        ["*test_session*", "*started with num.partitions=3, but the test has num.partitions=5*`fauxka`*"]
    )


def test_a_session_fixture_that_uses_the_broker_of_another_configuration_is_an_error(run: pytest.Pytester) -> None:
    run.makeconftest("""
import pytest

@pytest.fixture(scope="session")
def address(fauxka_broker):
    return fauxka_broker.bootstrap_servers
""")
    module = MODULE.partition("@pytest.mark")[0] + "def test_address(address):\n    pass\n"
    run.makepyfile(test_three=module.format(partitions=3), test_five=module.format(partitions=5))

    run_tests(run, "test_three.py", "test_five.py").assert_outcomes(passed=1, errors=1)


def test_a_narrower_configuration_of_the_session_broker_is_an_error(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest

@pytest.fixture
def fauxka_config():
    return {}

def test_session(fauxka_broker):
    pass
""")

    result = run_tests(run)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["ScopeMismatch: * function scoped fixture fauxka_config *"])


def test_an_overridden_broker_is_the_broker_of_all_fixtures(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest
from fauxka.testing import Broker

@pytest.fixture(scope="module")
def fauxka_broker(tmp_path_factory):
    with Broker({"num.partitions": "7"}, data_dir=tmp_path_factory.mktemp("data")) as broker:
        yield broker

def test_own(fauxka, fauxka_broker):
    assert fauxka is fauxka_broker
    assert fauxka.cluster.node.config.num_partitions == 7
""")

    run_tests(run).assert_outcomes(passed=1)


def test_an_extended_broker_of_another_configuration_is_an_error(run: pytest.Pytester) -> None:
    run.makeconftest("""
import pytest

@pytest.fixture(scope="session")
def fauxka_broker(fauxka_broker):
    return fauxka_broker
""")
    run.makepyfile(test_three=MODULE.format(partitions=3), test_five=MODULE.format(partitions=5))

    result = run_tests(run, "test_three.py", "test_five.py")

    result.assert_outcomes(passed=2, errors=2)
    result.stdout.fnmatch_lines(["*started with num.partitions=3, but the test has num.partitions=5*"])


def test_a_refused_configuration_fails_only_its_own_tests_with_one_line(run: pytest.Pytester) -> None:
    run.makepyfile(test_refused=MODULE.format(partitions=0), test_three=MODULE.format(partitions=3))

    result = run_tests(run, "test_refused.py", "test_three.py")

    result.assert_outcomes(passed=2, errors=2)
    result.stdout.fnmatch_lines(
        ["*ERROR at setup of test_configured*", "Invalid value 0 for configuration num.partitions: *"], consecutive=True
    )


def test_numbers_and_texts_are_the_same_configuration_and_booleans_are_another(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest

brokers = []

@pytest.fixture(params=[3, "3"])
def partitions(request):
    return {"num.partitions": request.param}

class TestNumber:
    @pytest.fixture
    def fauxka_config(self, partitions):
        return partitions

    def test_number(self, fauxka):
        brokers.append(fauxka)
        assert len(set(brokers)) == 1

class TestBoolean:
    @pytest.fixture
    def fauxka_config(self):
        return {"auto.create.topics.enable": True}

    def test_boolean(self, fauxka):
        assert fauxka.cluster.node.config.auto_create_topics_enable

class TestOne:
    @pytest.fixture
    def fauxka_config(self):
        return {"auto.create.topics.enable": 1}

    def test_one(self, fauxka):
        pass
""")

    result = run_tests(run)

    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(["Invalid value 1 for configuration auto.create.topics.enable: *"])


def test_each_worker_of_xdist_has_its_own_broker_for_each_configuration(run: pytest.Pytester, tmp_path: Path) -> None:
    write = f"""
def test_address(fauxka, worker_id):
    import pathlib
    number = fauxka.cluster.node.config.num_partitions
    (pathlib.Path({str(tmp_path)!r}) / f"{{worker_id}}-{{number}}").write_text(fauxka.bootstrap_servers)
"""
    modules = {f"test_{number}": MODULE.format(partitions=number) + write for number in (3, 5)}
    run.makepyfile(**modules)

    run_tests(run, "-n", "2").assert_outcomes(passed=6)

    addresses = [file.read_text() for file in tmp_path.iterdir()]
    assert len(addresses) == len(set(addresses)) == 2
