import assert from "node:assert/strict";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { blobDigests, openCaller, ownerOf, sealCaller, taskKeys } from "@/lib/tasks/task_keys.ts";

const secret = (text: string) => new TextEncoder().encode(text);
const keys = taskKeys(secret("a long secret of this deployment"));
const caller: Caller = {
  username: "åsa",
  tenant: "Archive",
  s3: { accessKey: "w6VzYQ==", secretKey: "5f4dcc3b5aa765d61d8327deb882cf99" },
  mapiAuthorization: "HCP w6VzYQ==:5f4dcc3b5aa765d61d8327deb882cf99",
  named: true,
};

const task = { id: "task 1", kind: "count", bucket: "letters" } as const;
const terms = { at: 7, digests: blobDigests(new Map([["prefixes", new Uint8Array([1])]])) };

Deno.test("task keys: a sealed caller opens for its task, kind and bucket alone, without management credentials", () => {
  const sealed = sealCaller(caller, task, terms, keys);
  assert.deepEqual(openCaller(sealed, task, keys), { caller: { ...caller, mapiAuthorization: null }, ...terms });
  const request = { id: "r1", address: "192.0.2.7" };
  const reopened = openCaller(sealCaller({ ...caller, request }, task, terms, keys), task, keys);
  assert.deepEqual(reopened?.caller.request, { ...request, isByTask: true });
  for (const other of [{ ...task, id: "task 2" }, { ...task, kind: "delete" }, { ...task, bucket: "other" }] as const) {
    assert.equal(openCaller(sealed, other, keys), null);
  }
  assert.equal(openCaller(sealed, task, taskKeys(secret("another secret"))), null);
  assert.equal(openCaller(sealed.with(20, sealed[20] ^ 1), task, keys), null);
});

Deno.test("task keys: nothing of the credentials can be read in a sealed caller or in an owner", () => {
  const shown = new TextDecoder("latin1").decode(sealCaller(caller, task, terms, keys)) + ownerOf(caller, keys);
  for (const part of [caller.s3.accessKey, caller.s3.secretKey, "åsa", "Archive"]) assert.ok(!shown.includes(part));
});

Deno.test("task keys: other credentials are another owner, in every process alike", () => {
  const owner = ownerOf(caller, keys);
  assert.equal(ownerOf({ ...caller, tenant: "archive" }, taskKeys(secret("a long secret of this deployment"))), owner);
  for (
    const other of [
      { ...caller, tenant: null },
      { ...caller, username: "asa" },
      { ...caller, s3: { ...caller.s3, secretKey: "0" } },
    ]
  ) assert.notEqual(ownerOf(other, keys), owner);
});

Deno.test("task keys: a name in another case or Unicode form is the same owner, but an access key is not", () => {
  const as = (username: string): Caller => ({
    ...caller,
    username,
    s3: { ...caller.s3, accessKey: btoa(String.fromCharCode(...new TextEncoder().encode(username))) },
  });
  for (const name of ["\u00c5SA", "a\u030asa"]) assert.equal(ownerOf(as(name), keys), ownerOf(caller, keys));
  const ofKey = (key: string): Caller => ({
    ...caller,
    named: false,
    username: key,
    s3: { ...caller.s3, accessKey: key },
  });
  assert.notEqual(ownerOf(ofKey("AKIA"), keys), ownerOf(ofKey("akia"), keys));
});
