"""The scripted, oracle, random and replaying models."""

import json
from pathlib import Path

import pytest

from screenloop.actions import Action, Finish, Tap, Type, decode_action, encode_action
from screenloop.errors import AgentError, ConfigError, ModelUnavailable, TaskError
from screenloop.messages import ChatRequest, Message, Sampling, TextPart
from screenloop.models.calls import episode_of
from screenloop.models.oracle import OracleModel
from screenloop.models.replaying import ReplayingModel
from screenloop.models.scripted import RandomModel, ScriptedModel
from screenloop.store.episodes import CallRecord, EpisodeWriter, StartRecord
from screenloop.suites.fake import FakeSuite


def render(action: Action) -> str:
    return encode_action(action).decode()


def words(role: str, text: str) -> Message:
    return Message(role=role, parts=(TextPart(text=text),))


def ask(call_id: str, *messages: Message) -> ChatRequest:
    return ChatRequest(call_id=call_id, session_id="s", messages=messages)


async def reply_to(model, call_id: str, *messages: Message) -> str:
    return (await model.complete(ask(call_id, *messages), deadline_s=60)).text


def test_the_episode_is_what_stands_before_the_last_call_mark():
    assert episode_of("fake/count_notes@1#0/r0/c12") == "fake/count_notes@1#0/r0"
    assert episode_of("alone") == "alone"


# ---- scripted ------------------------------------------------------------------------------


async def test_each_episode_plays_the_script_from_its_start():
    model = ScriptedModel(["one", "two"])
    assert [await reply_to(model, c) for c in ("a/c0", "b/c0", "a/c1")] == ["one", "one", "two"]


async def test_a_repeated_call_gets_the_same_reply():
    model = ScriptedModel(["one", "two"])
    assert [await reply_to(model, "a/c0") for _ in range(3)] == ["one"] * 3


async def test_a_script_at_its_end_is_the_agents_failure():
    model = ScriptedModel(["one"])
    await reply_to(model, "a/c0")
    with pytest.raises(AgentError, match="script is at its end"):
        await reply_to(model, "a/c1")


async def test_a_task_may_have_its_own_script(tmp_path: Path):
    path = tmp_path / "script.jsonl"
    lines = ['"common"', '{"reply": "second"}', '{"task": "s/t@1", "replies": ["own"]}', ""]
    path.write_text("\n".join(lines))
    model = ScriptedModel.from_file(path)
    model.set_task("a", "s/t@1")
    assert await reply_to(model, "a/c0") == "own"
    assert await reply_to(model, "b/c0") == "common"
    assert await reply_to(model, "b/c1") == "second"


async def test_a_script_may_be_one_json_list(tmp_path: Path):
    path = tmp_path / "script.json"
    path.write_text(json.dumps(["one", {"reply": "two"}], indent=1))
    model = ScriptedModel.from_file(path)
    assert [await reply_to(model, c) for c in ("a/c0", "a/c1")] == ["one", "two"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'"ok"\n{"rep', ":2"),
        (b"7", ":1"),
        (b'{"text": "x"}', ":1"),
        (b"", "no reply"),
        (b"[1]", "script entry"),
        (b'"\xff"', ":1"),
        (b'{"task": "t", "replies": "x"}', ":1"),
    ],
)
def test_a_broken_script_is_refused_with_its_line(tmp_path: Path, content: bytes, said: str):
    path = tmp_path / "script.jsonl"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=said):
        ScriptedModel.from_file(path)


def test_a_missing_script_is_refused(tmp_path: Path):
    with pytest.raises(ConfigError, match="cannot read script"):
        ScriptedModel.from_file(tmp_path / "none.jsonl")


# ---- oracle --------------------------------------------------------------------------------


async def test_the_oracle_plays_its_plan_and_then_finishes():
    model = OracleModel(render)
    plan = (Tap(at=(0.5, 0.5)), Type(text="hi"))
    model.set_plan("a", plan)
    replies = [await reply_to(model, f"a/c{i}") for i in range(4)]
    finish = Finish(status="success")
    assert [decode_action(reply) for reply in replies] == [*plan, finish, finish]


async def test_an_oracle_without_a_plan_blames_the_task():
    with pytest.raises(TaskError, match="no plan"):
        await reply_to(OracleModel(render), "a/c0")


# ---- random --------------------------------------------------------------------------------


async def test_random_replies_depend_on_seed_and_call_only():
    def run(seed: int) -> RandomModel:
        return RandomModel(render, seed=seed)

    calls = [f"a/c{i}" for i in range(30)]
    first = [await reply_to(run(1), c) for c in calls]
    again = [await reply_to(run(1), c) for c in reversed(calls)][::-1]
    other = [await reply_to(run(2), c) for c in calls]
    assert first == again
    assert first != other


async def test_random_actions_are_valid_and_of_the_kinds_asked_for():
    model = RandomModel(render, kinds=("tap", "bash", "scroll"))
    replies = [await reply_to(model, f"a/c{i}") for i in range(300)]
    kinds = {type(decode_action(reply)).__name__ for reply in replies}
    assert kinds == {"Tap", "Scroll", "Finish"}


async def test_kinds_that_cannot_be_drawn_are_refused():
    with pytest.raises(ConfigError, match="Can draw: key, scroll"):
        await reply_to(RandomModel(render, kinds=("bash",)), "a/c0")


# ---- replaying -----------------------------------------------------------------------------


def record_episode(path: Path) -> None:
    task = FakeSuite().task("add_note", 0)
    writer = EpisodeWriter(path / "e" / "episode.jsonl")
    writer.write(
        StartRecord(
            episode_id="e",
            run_id="r",
            task=task,
            mode="gui_only",
            config_hash="c",
            harness_hash="h",
            started_at=0.0,
        )
    )
    for index, parent in enumerate((None, "e/c0")):
        writer.write(
            CallRecord(
                call_id=f"e/c{index}",
                parent_call_id=parent,
                window_index=0,
                step_index=index,
                messages=(words("user", f"screen {index}"),),
                sampling=Sampling(),
                model="m",
                reply=f"reply {index}",
                finish_reason="stop",
                took_s=0.5,
                attempts=2,
            )
        )
    writer.close()


async def test_recorded_replies_come_back_for_the_recorded_requests(tmp_path: Path):
    record_episode(tmp_path)
    model = ReplayingModel.from_run(tmp_path)
    first = words("user", "screen 0")
    reply = await model.complete(ask("e/c0", first), deadline_s=60)
    assert (reply.text, reply.took_s, reply.attempts) == ("reply 0", 0.5, 2)
    history = (first, words("assistant", "reply 0"), words("user", "screen 1"))
    assert await reply_to(model, "e/c1", *history) == "reply 1"


async def test_another_request_than_the_recorded_one_is_refused(tmp_path: Path):
    record_episode(tmp_path)
    model = ReplayingModel.from_run(tmp_path)
    with pytest.raises(ModelUnavailable, match="asks something else"):
        await reply_to(model, "e/c0", words("user", "screen 0!"))
    with pytest.raises(ModelUnavailable, match="holds no call"):
        await reply_to(model, "e/c9", words("user", "screen 0"))


def test_a_folder_without_episodes_is_refused(tmp_path: Path):
    with pytest.raises(ConfigError, match="no episode to replay"):
        ReplayingModel.from_run(tmp_path)
