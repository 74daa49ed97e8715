import assert from "node:assert/strict";
import type { Change, Outcome } from "@/embedded/store/writer/reported_changes.ts";
import { createBucket, deleteObjects, putObject, utf8, writtenStore } from "@/embedded/tests/store/changes_fixture.ts";

const ORIGIN = { actor: "anna", isSystem: false, address: "192.0.2.7", requestId: "r1", isByGateway: false };

/** Actions and keys. */
function reported(outcomes: readonly Outcome[]): string[] {
  return outcomes.flatMap((outcome) => outcome.ok ? outcome.reports : [])
    .map(({ action, target }) => `${action} ${target.key ?? ""}`.trim());
}

Deno.test("reported changes: deletions that a full disk has committed again are reported once each", () => {
  using store = writtenStore([createBucket(), putObject("a", "a"), putObject("b", "b")]);
  const exec = store.index.exec.bind(store.index);
  let commits = 0;
  store.index.exec = (sql: string) => {
    if (sql === "COMMIT" && ++commits === 1) throw new Error("database or disk is full");
    exec(sql);
  };
  const objects = ["a", "b"].map((name) => ({ key: utf8(name), version: null }));
  const outcomes = store.writer.commit([{ ...deleteObjects(objects), origin: ORIGIN }]);
  assert.ok(commits > 1);
  assert.deepEqual(reported(outcomes), ["object_delete a", "object_delete b"]);
});

Deno.test("reported changes: the store's own changes are not reported", () => {
  using store = writtenStore([createBucket()]);
  const changes: Change[] = [
    { kind: "countReads", input: { reads: [] } },
    { kind: "expireUsage", input: { beforeHour: 1 } },
    { kind: "expireUploads", input: { atMs: 1 } },
    { kind: "resetFailures", input: { user: 1 } },
  ];
  const outcomes = store.writer.commit(changes);
  assert.ok(outcomes.every(({ ok }) => ok));
  assert.deepEqual(reported(outcomes), []);
});
