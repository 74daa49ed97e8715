import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { givenSessionKeys, parseSessionKeys, sessionKeyFile } from "@/lib/auth/session_token.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

const encoded = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

function inFolder(body: (path: string) => void): void {
  const folder = Deno.makeTempDirSync();
  using _removal = removeAtEnd(folder);
  body(`${folder}/key`);
}

Deno.test("session key: a file's key follows the file, also when it is edited in place or its link is switched", () => {
  inFolder((path) => {
    const keys = [1, 2, 3].map(() => randomBytes(32));
    const holds = (key: Uint8Array) => assert.deepEqual(current().map((key) => key.export()), [Buffer.from(key)]);
    Deno.writeTextFileSync(`${path}.0`, encoded(keys[0]));
    Deno.symlinkSync(`${path}.0`, path);
    const current = sessionKeyFile(path);
    holds(keys[0]);
    assert.equal(current(), current(), "an unchanged file is not read again");

    Deno.writeTextFileSync(`${path}.1`, encoded(keys[1]) + "\n");
    Deno.symlinkSync(`${path}.1`, `${path}.new`);
    Deno.renameSync(`${path}.new`, path);
    holds(keys[1]);

    Deno.writeTextFileSync(`${path}.1`, encoded(keys[2]));
    holds(keys[2]);
  });
});

Deno.test("session key: there is none while the file is missing or damaged, and returns with the file", () => {
  inFolder((path) => {
    const key = randomBytes(32);
    Deno.writeTextFileSync(path, encoded(key));
    const current = sessionKeyFile(path);
    Deno.removeSync(path);
    assert.deepEqual(current(), []);
    Deno.writeTextFileSync(path, "not a key");
    assert.deepEqual(current(), []);
    assert.deepEqual(current(), []);
    Deno.writeTextFileSync(path, encoded(key));
    assert.deepEqual(current()[0].export(), key);
  });
});

Deno.test("session key: without a key of 32 bytes at the start there is no start, and the message tells no secret", () => {
  inFolder((path) => {
    assert.throws(() => sessionKeyFile(path), { name: "SessionKeyError", message: new RegExp(path) });
    for (const bytes of [0, 16, 31, 33, 64]) {
      const text = encoded(randomBytes(bytes));
      Deno.writeTextFileSync(path, text);
      assert.throws(() => sessionKeyFile(path), (error: Error) => text === "" || !error.message.includes(text));
      assert.throws(() => givenSessionKeys(randomBytes(bytes)), { name: "SessionKeyError" });
    }
    for (const text of ["!".repeat(44), encoded(randomBytes(32)).slice(0, -1), randomBytes(32).toString("hex")]) {
      Deno.writeTextFileSync(path, text);
      assert.throws(() => sessionKeyFile(path), { name: "SessionKeyError" });
    }
  });
});

Deno.test("session key: a file may hold a second key, which opens beside the first one", () => {
  inFolder((path) => {
    const [old, next] = [randomBytes(32), randomBytes(32)];
    // A new file each time: one that is edited twice within a millisecond looks the same.
    const write = (...keys: Uint8Array[]) => {
      Deno.writeTextFileSync(`${path}.new`, keys.map(encoded).join("\n") + "\n");
      Deno.renameSync(`${path}.new`, path);
    };
    write(old);
    const current = sessionKeyFile(path);
    const hold = (...keys: Uint8Array[]) => assert.deepEqual(current().map((key) => key.export()), keys);
    write(old, next);
    hold(old, next);
    write(next, old);
    hold(next, old);
    assert.equal(current(), current(), "the same list until the file is replaced");
    write(next);
    hold(next);
    write(old, next, randomBytes(32));
    hold();
  });
});

Deno.test("session key: a text holds one or two keys between blanks, and nothing else", () => {
  const [one, other] = [randomBytes(32), randomBytes(32)];
  assert.deepEqual(parseSessionKeys(` ${encoded(one)}\r\n${encoded(other)}\n`), [one, other]);
  assert.deepEqual(parseSessionKeys(`${encoded(one)} ${encoded(other)}`), [one, other]);
  for (const text of ["", " ", "key", `${encoded(one)},${encoded(other)}`, `${encoded(one)} x`]) {
    assert.equal(parseSessionKeys(text), null, text);
  }
});
