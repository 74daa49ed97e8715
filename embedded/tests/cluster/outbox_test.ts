import assert from "node:assert/strict";
import { Outbox } from "@/embedded/cluster/outbox.ts";

function file(key: string, text = key) {
  return { key, contentType: "text/plain", body: () => new TextEncoder().encode(text) };
}

Deno.test("outbox: live files go first, a newer version replaces a waiting one, a manifest waits for its pages", async () => {
  const written: string[] = [];
  const outbox = new Outbox({
    put: ({ body }) => {
      written.push(new TextDecoder().decode(body()));
      return Promise.resolve();
    },
    remove: () => Promise.resolve(),
  });
  outbox.push(file("rest"), "rest");
  outbox.push(file("v/progress.json", "old"), "live");
  outbox.push(file("v/alto/0001.xml"), "live");
  outbox.push(file("v/manifest.json"), "live");
  outbox.push(file("v/progress.json", "new"), "live");
  await outbox.drain();
  assert.deepEqual(written, ["v/alto/0001.xml", "v/manifest.json", "new", "rest"]);
  assert.equal(outbox.waiting, 0);
});

Deno.test("outbox: files of the past are written between continuous live ones", async () => {
  let lives = 0;
  let isPastWritten = false;
  const pushLive = () => {
    if (!isPastWritten) outbox.push(file(`live ${lives++}`), "live");
  };
  const outbox = new Outbox({
    put: ({ key }) => {
      isPastWritten ||= key === "past";
      assert.ok(lives < 100, "the file of the past is still waiting");
      pushLive();
      return Promise.resolve();
    },
    remove: () => Promise.resolve(),
  });
  outbox.push(file("past"), "rest");
  pushLive();
  await outbox.drain();
  assert.ok(isPastWritten);
  assert.equal(outbox.waiting, 0);
});

Deno.test("outbox: rejected files are written later, in the same order", async () => {
  const written: string[] = [];
  let refuse = true;
  const outbox = new Outbox({
    put: ({ key }) => {
      if (refuse) return Promise.reject(new Error("full"));
      written.push(key);
      return Promise.resolve();
    },
    remove: () => Promise.resolve(),
  });
  for (const key of ["a", "b", "c/manifest.json"]) outbox.push(file(key), "live");
  await assert.rejects(outbox.drain(), /full/);
  assert.equal(outbox.waiting, 3);
  refuse = false;
  await outbox.drain();
  assert.deepEqual([...written].sort(), ["a", "b", "c/manifest.json"]);
  assert.equal(written.at(-1), "c/manifest.json");
});

Deno.test("outbox: a removal comes after all writes, is tried again, and leaves a file that is written again", async () => {
  const steps: string[] = [];
  let isDown = true;
  const outbox = new Outbox({
    put: ({ key }) => {
      steps.push(`put ${key}`);
      return Promise.resolve();
    },
    remove: (keys) => {
      if (isDown) return Promise.reject(new Error("down"));
      steps.push(`remove ${keys.join(" ")}`);
      return Promise.resolve();
    },
  });
  outbox.push(file("a"), "live");
  outbox.remove(["a", "b", "c"]);
  outbox.push(file("b"), "live");
  await assert.rejects(outbox.drain(), /down/);
  assert.equal(outbox.waiting, 2);
  isDown = false;
  await outbox.drain();
  assert.deepEqual(steps, ["put b", "remove a c"]);
  assert.equal(outbox.waiting, 0);
});
