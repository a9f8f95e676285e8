"""Exports over HTTP stay in the folder of --export-dir, wherever the path and its links lead."""

import asyncio
import signal
from pathlib import Path

import pytest

from fauxka.admin.operations import export_operations
from fauxka.admin.operations.export_operations import Export
from fauxka.broker.lifecycle.export.kafka_folder import ExportError, KafkaFolder
from fauxka.testing import AsyncBroker

from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import COMMAND, Serving, run, serving, stop
from .admin_client import AdminClient


def export(admin: AdminClient, path: object) -> str:
    """Export to a path, and return the folder of the response."""
    return str(admin.post("/v1/export", {"dir": str(path)})["dir"])


def test_topics_are_exported_for_a_real_kafka(admin: AdminClient, broker: Serving, export_dir: Path) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)

    exported = export(admin, "of/topics")

    folder = export_dir / "of" / "topics"
    assert exported == str(folder)
    assert (folder / "meta.properties").exists()
    assert (folder / f"{TOPIC}-0" / "00000000000000000000.log").stat().st_size > 0


def test_absolute_path_inside_the_folder_is_accepted(admin: AdminClient, export_dir: Path) -> None:
    assert export(admin, export_dir / "absolute") == str(export_dir / "absolute")


def test_dots_that_stay_inside_are_accepted(admin: AdminClient, export_dir: Path) -> None:
    assert export(admin, "./x/../dots/") == str(export_dir / "dots")


@pytest.mark.parametrize(
    "path", [".", "a/..", "..", "../x", "a/../../x", "/", "/tmp/x", "/etc", "a/../..", "../exports-2"]
)
def test_path_that_is_not_inside_is_400_and_the_error_names_path_and_folder(
    admin: AdminClient, export_dir: Path, path: str
) -> None:
    answer = admin.call("POST", "/v1/export", {"dir": path})

    assert (answer.status, answer.error["field"], answer.error["value"]) == (400, "dir", path)
    assert path in answer.error["message"]
    assert str(export_dir) in answer.error["message"]
    assert "--export-dir" in answer.error["message"]


def test_links_out_of_the_folder_are_400_and_nothing_is_written(
    admin: AdminClient, export_dir: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    export_dir.mkdir(exist_ok=True)
    (export_dir / "link").symlink_to(outside)
    (export_dir / "dangling").symlink_to(tmp_path / "new")
    (export_dir / "second").symlink_to("link")

    statuses = [
        admin.call("POST", "/v1/export", {"dir": path}).status
        for path in ("link", "link/x", "dangling", "dangling/x", "second/x/y", "x/../link/x")
    ]

    assert statuses == [400] * 6
    assert list(outside.iterdir()) == []
    assert not (tmp_path / "new").exists()


def test_link_that_stays_inside_is_followed(admin: AdminClient, export_dir: Path) -> None:
    (export_dir / "target").mkdir(parents=True)
    (export_dir / "inside").symlink_to("target")

    assert export(admin, "inside/x") == str(export_dir / "target" / "x")


def test_links_in_a_circle_are_409(admin: AdminClient, export_dir: Path) -> None:
    export_dir.mkdir(exist_ok=True)
    (export_dir / "circle").symlink_to("circle")

    assert admin.call("POST", "/v1/export", {"dir": "circle/x"}).status == 409


def test_folder_that_a_link_has_replaced_after_the_check_gets_no_file(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "replaced").symlink_to(outside)

    with pytest.raises(ExportError, match="leads out of"):
        KafkaFolder(inside / "replaced" / "x", inside)

    assert [path for path in outside.rglob("*") if path.is_file()] == []


def test_file_of_an_export_is_not_written_through_a_link(tmp_path: Path) -> None:
    folder = KafkaFolder(tmp_path / "folder")
    (tmp_path / "folder" / "orders-0").symlink_to(tmp_path)

    with pytest.raises(FileExistsError):
        folder.create_partition("orders", bytes(16), 0)


def test_export_to_an_existing_folder_is_409(admin: AdminClient, export_dir: Path) -> None:
    (export_dir / "used").mkdir(parents=True)
    (export_dir / "used" / "other.txt").touch()

    answer = admin.call("POST", "/v1/export", {"dir": "used"})

    assert (answer.status, answer.error["field"]) == (409, "dir")


def test_path_that_the_file_system_refuses_is_409(admin: AdminClient) -> None:
    assert admin.call("POST", "/v1/export", {"dir": "x" * 4000}).status == 409


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_invalid_path_is_400(admin: AdminClient, path: str) -> None:
    assert admin.call("POST", "/v1/export", {"dir": path}).status == 400


# The folder.


def test_folder_is_in_the_data_folder_by_default(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, "--admin-port", "0", "--data-dir", str(data), "--seed-topic", "orders") as broker:
        assert broker.admin is not None
        assert not (data / "exports").exists()
        exported = export(AdminClient(broker.admin), "first")
        stop(broker, signal.SIGTERM)
    with serving(tmp_path, "--admin-port", "0", "--data-dir", str(data)) as broker:
        assert broker.admin is not None
        topics = [topic["name"] for topic in AdminClient(broker.admin).get("/v1/topics")["items"]]
        assert stop(broker, signal.SIGTERM).exit_code == 0

    assert exported == str(data.resolve() / "exports" / "first")
    assert (data / "exports" / "first" / "meta.properties").exists()
    assert topics == ["orders"]


def test_folder_is_in_the_working_directory_without_a_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with serving(tmp_path, "--admin-port", "0", command=COMMAND) as broker:
        assert broker.admin is not None
        exported = export(AdminClient(broker.admin), "first")

    assert exported == str(tmp_path.resolve() / "exports" / "first")


def test_folder_comes_from_the_environment(tmp_path: Path) -> None:
    variables = {"FAUXKA_ADMIN_PORT": "0", "FAUXKA_EXPORT_DIR": str(tmp_path / "chosen")}
    with serving(tmp_path, variables=variables) as broker:
        assert broker.admin is not None
        exported = export(AdminClient(broker.admin), "first")

    assert exported == str(tmp_path.resolve() / "chosen" / "first")


def test_folder_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to("disk")
    with serving(tmp_path, "--admin-port", "0", "--export-dir", str(tmp_path / "link")) as broker:
        assert broker.admin is not None
        exported = export(AdminClient(broker.admin), tmp_path / "link" / "first")

    assert exported == str(tmp_path.resolve() / "disk" / "first")


def test_exports_of_a_broker_in_memory_do_not_keep_a_later_one_from_the_folder(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "exports" / "first").mkdir(parents=True)

    with serving(tmp_path, "--data-dir", str(data)) as broker:
        assert stop(broker, signal.SIGTERM).exit_code == 0


def test_folder_that_is_a_file_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    ended = run("serve", "--port", "0", "--admin-port", "0", "--export-dir", str(tmp_path / "file"))

    assert ended.exit_code == 2
    (line,) = ended.log.splitlines()
    assert "is a file, not a folder" in line


def test_caller_in_the_brokers_process_exports_to_any_folder(tmp_path: Path) -> None:
    async def export_in_process() -> str:
        async with AsyncBroker() as broker:
            exported = await export_operations.export(broker.control, Export(dir=str(tmp_path / "any")))
        return exported.dir

    assert asyncio.run(export_in_process()) == str(tmp_path / "any")
    assert (tmp_path / "any" / "meta.properties").exists()


def test_command_line_exports_to_any_folder(broker: Serving, tmp_path: Path) -> None:
    ended = run("export", str(tmp_path / "any"), "--from", broker.bootstrap)

    assert ended.exit_code == 0
    assert (tmp_path / "any" / "meta.properties").exists()
