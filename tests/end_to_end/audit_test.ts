import { PutObjectCommand } from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import type { AuditRecord } from "@/lib/operations/audit/audit_trail.ts";
import { checkChainFolder } from "@/lib/operations/audit/chain_check.ts";
import { gatewayOf, startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { runTask } from "@/tests/task.ts";
import { until } from "@/tests/until.ts";
import { logIn, storeClient } from "./gateway_client.ts";
import { StorageBrowser } from "./storage_browser.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

Deno.test("audit trail: logins and logouts of the pages are in it, and on standard output", async () => {
  await using application = await startApplication({ env: { ...STORAGE_ONLY, AUDIT_FILE: "-" } });
  const browser = new StorageBrowser(application.site);
  assert.equal(await browser.logIn("archive/curator", "wrong-Secret-1"), "/login?error=401");
  assert.equal(await browser.logIn("archive/curator"), "/storage?account=archive%2Fcurator");
  await browser.logIn("research/researcher");
  await browser.logOut("research/researcher");
  await browser.logOut();
  const all = ["login_failed", "login", "login", "logout", "logout"];
  const lines = await until("the records are written", () => {
    const lines = application.output().split("\n").filter((line) => line.startsWith('{"v":1,'));
    return lines.filter((line) => line.includes('"by":"form"')).length >= all.length ? lines : null;
  });
  const records: AuditRecord[] = lines.map((line) => JSON.parse(line));
  const sent = records.filter(({ details }) => details.by === "form");
  assert.deepEqual(sent.map(({ action }) => action), all);
  assert.deepEqual(sent.map(({ actor }) => `${actor?.tenant}/${actor?.name}`), [
    "archive/curator",
    "archive/curator",
    "research/researcher",
    "research/researcher",
    "archive/curator",
  ]);
  for (const { action, role, address, result, details } of sent) {
    assert.deepEqual([role, address, details.by], ["web", "127.0.0.1", "form"]);
    assert.equal(result, action === "login_failed" ? "refused" : "succeeded");
  }
  const { json } = await logIn(application.site, "archive/curator");
  const page = await json("GET", "/audit?actor=curator&count=1000");
  const read = (page.records as AuditRecord[]).filter(({ details }) => details.by === "form").reverse();
  assert.deepEqual(
    read.map(({ id }) => id),
    sent.filter(({ actor }) => actor?.name === "curator").map(({ id }) => id),
  );
  assert.doesNotMatch(lines.join() + JSON.stringify(page), /wrong-Secret-1|stackroom-demo/);
});

Deno.test("audit trail: each object that a task deletes has one record, of the request that started it", async () => {
  await using application = await startApplication({ env: STORAGE_ONLY });
  const { json, call } = await logIn(application.site, "archive/curator");
  const keys = ["gone/1", "gone/2", "gone/3"];
  for (const key of keys) await json("PUT", `/buckets/letters/objects/${key}`, "x");
  const path = "/buckets/letters/objects/delete-task";
  const started = await call("POST", path, { keys: keys.slice(1), prefixes: ["gone/1"] }, {
    "content-type": "application/json",
    "x-request-id": "start-1",
  });
  assert.equal(started.status, 202, await started.text());
  const records = await until("the task has ended", async () => {
    const { records } = await json("GET", "/audit?request_id=start-1");
    return (records as AuditRecord[]).some(({ action }) => action === "task_end") ? records as AuditRecord[] : null;
  });
  const deleted = records.filter(({ action }) => action === "object_delete");
  assert.deepEqual(deleted.map(({ target }) => target.key).sort(), keys);
  for (const { actor, address } of records) {
    assert.deepEqual([actor, address], [{ name: "curator", tenant: "archive" }, "127.0.0.1"]);
  }
  const all = await json("GET", "/audit?action=object_delete&prefix=gone/");
  assert.equal((all.records as unknown[]).length, keys.length);
});

Deno.test("audit trail: AUDIT_DIR has it in place of the data folder, and so have a backup and verify", async () => {
  const folder = Deno.makeTempDirSync();
  const [dataFolder, trail, copy] = [`${folder}/data`, `${folder}/trail`, `${folder}/copy`];
  const env = { ...STORAGE_ONLY, AUDIT_DIR: trail };
  for (let start = 1; start <= 2; start++) {
    await using application = await startApplication({ env, dataFolder });
    const { json } = await logIn(application.site, "archive/curator");
    await json("PUT", `/buckets/letters/objects/from-start-${start}`, "x");
    const { records } = await json("GET", "/audit?action=object_write&prefix=from-start-");
    assert.equal((records as unknown[]).length, start);
    if (start === 1) {
      const refused = await startApplication({ env: { ...env, DATA_DIR: `${folder}/other` } }).catch((error) => error);
      assert.match(
        String(refused),
        /AUDIT_DIR: the folder \S+ of the audit trail cannot be used \(another process has it/,
      );
    }
  }
  assert.deepEqual(checkChainFolder(trail).faults, []);
  assert.equal([...Deno.readDirSync(dataFolder)].some(({ name }) => name === "audit"), false);
  assert.deepEqual([(await runTask("backup", dataFolder, [copy], [], env)).code], [0]);
  assert.deepEqual(checkChainFolder(`${copy}/audit_dir`), checkChainFolder(trail));
  assert.equal((await runTask("verify", dataFolder, [], [], env)).code, 0);
  Deno.removeSync(folder, { recursive: true });
});

Deno.test("audit trail: a stop names the records of requests that wait for a disk that hangs, and answers them", async () => {
  const folder = Deno.makeTempDirSync();
  const [trail, file] = [`${folder}/trail`, `${folder}/audit.jsonl`];
  const application = await startApplication({ env: { ...STORAGE_ONLY, AUDIT_DIR: trail, AUDIT_FILE: file } });
  const { call } = await logIn(application.site, "archive/curator");
  // A pipe that is full lets a write wait, as a network share that is gone does. It takes the place of the file at once:
  // the record of the login may come late.
  assert.equal((await new Deno.Command("mkfifo", { args: [`${file}.pipe`] }).output()).success, true);
  const pipe = await Deno.open(`${file}.pipe`, { read: true, write: true });
  assert.equal(await pipe.write(new Uint8Array(65_536)), 65_536);
  Deno.renameSync(`${file}.pipe`, file);
  const object = "/buckets/letters/objects/hung";
  const writing = call("PUT", object, "x");
  await until("the object is written", async () => {
    const response = await call("GET", object);
    await response.body?.cancel();
    return response.ok || null;
  });
  const { code } = await application.stop();
  const { status, body } = await writing;
  await body?.cancel();
  assert.deepEqual([code, status], [0, 200]);
  assert.match(application.output(), /^The audit trail: [1-9]\d* records were not delivered to file$/m);
  assert.doesNotMatch(application.output(), /delivered to chain/);
  assert.deepEqual(checkChainFolder(trail).faults, []);
  pipe.close();
  Deno.removeSync(folder, { recursive: true });
});

Deno.test("audit trail: a start without a place for it says so, and one with AUDIT_DIR alone has it checked and copied", async () => {
  const folder = Deno.makeTempDirSync();
  const env = gatewayOf("http://127.0.0.1:9");
  const without = await startApplication({ env, dataFolder: `${folder}/none` });
  await without.stop();
  assert.match(
    without.output(),
    /^No audit trail is kept: there is no data folder, and no AUDIT_ setting names another/m,
  );
  const placed = { ...env, AUDIT_DIR: `${folder}/trail` };
  const within = await startApplication({ env: placed, dataFolder: `${folder}/none` });
  await within.stop();
  assert.doesNotMatch(within.output(), /No audit trail/);
  const well = `${folder}/trail: all is well (0 records).\n`;
  const verify = (name: string) => runTask("verify", `${folder}/${name}`, [], [], placed);
  const backUp = (name: string) => runTask("backup", `${folder}/${name}`, [`${folder}/copy-${name}`], [], placed);
  const verified = await verify("none");
  assert.deepEqual([verified.code, verified.output], [0, well]);
  // What is in a folder that was used otherwise before is no data of an embedded part.
  Deno.mkdirSync(`${folder}/data`);
  Deno.writeTextFileSync(`${folder}/data/tasks.db`, "");
  const backup = await backUp("data");
  assert.equal(backup.code, 0, backup.output);
  assert.deepEqual([...Deno.readDirSync(`${folder}/copy-data`)].map(({ name }) => name), ["audit_dir"]);
  assert.deepEqual(checkChainFolder(`${folder}/copy-data/audit_dir`), { records: 0, faults: [] });

  // An unfinished backup, and bodies without their index, are data that must not pass for none.
  for (const [name, problem] of [["backup.unfinished", /was not finished/], ["bodies.json", /index\.db is missing/]]) {
    Deno.mkdirSync(`${folder}/emptied`);
    Deno.writeTextFileSync(`${folder}/emptied/${name}`, "");
    const refused = await backUp("emptied");
    assert.equal(refused.code, 1);
    assert.match(refused.output, problem as RegExp);
    Deno.removeSync(`${folder}/emptied`, { recursive: true });
  }
  Deno.removeSync(folder, { recursive: true });
});

Deno.test("audit trail: where it is required, changes are refused while a file cannot be written, and reads are not", async () => {
  const folder = Deno.makeTempDirSync();
  const file = `${folder}/audit.jsonl`;
  using _removal = removeAtEnd(folder);
  await using application = await startApplication({
    env: { ...STORAGE_ONLY, AUDIT_REQUIRED: "true", AUDIT_FILE: file },
  });
  Deno.removeSync(file);
  Deno.mkdirSync(file);
  const curator = await logIn(application.site, "archive/curator");
  const { call } = curator;
  const answers: [number, string][] = [];
  for (let n = 0; n < 2; n++) {
    const response = await call("PUT", "/buckets/letters/objects/a", "x");
    answers.push([response.status, (await response.json()).detail]);
  }
  assert.deepEqual(answers.map(([status]) => status), [507, 507]);
  assert.match(answers[1][1], /refused until they can/);
  const direct = await storeClient(curator);
  for (const Key of ["made", "refused"]) {
    await assert.rejects(direct.send(new PutObjectCommand({ Bucket: "letters", Key, Body: "x" })), {
      name: "OutOfSpace",
      message: /cannot be recorded in the audit trail/,
    });
  }
  direct.destroy();
  const absent = await call("HEAD", "/buckets/letters/objects/refused");
  assert.equal(absent.status, 404);
  assert.equal((await call("GET", "/buckets/letters/objects")).status, 200);
  assert.match(application.output(), /The audit trail cannot be written to file/);
});
