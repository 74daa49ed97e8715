import assert from "node:assert/strict";
import { readConfig } from "@/lib/config/mod.ts";

const unit = await Deno.readTextFile("deploy/stackroom.service");
const { tasks } = JSON.parse(await Deno.readTextFile("deno.json"));
const values = (name: string) => [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value]) => value);

Deno.test("service: it starts the launcher as the start task does, and may write to its own folders alone", () => {
  const [command] = values("ExecStart");
  assert.equal(`${command.replace("/usr/local/bin/", "")} --of-task`, tasks.start.command);
  assert.deepEqual(values("ProtectSystem"), ["strict"]);
  assert.deepEqual(values("ReadWritePaths"), []);
  assert.ok(values("Environment")[0].includes(`DATA_DIR=/var/lib/${values("StateDirectory")[0]}`));
  assert.ok(values("Environment")[0].includes(`DENO_DIR=/var/cache/${values("CacheDirectory")[0]}`));
});

Deno.test("service: it is not started for ever where each start ends, though one takes seconds", () => {
  const [[limited], [burst], [between]] = ["StartLimitIntervalSec", "StartLimitBurst", "RestartSec"].map(values);
  assert.ok(unit.indexOf("StartLimitIntervalSec") < unit.indexOf("[Service]"), "systemd reads it in [Unit]");
  assert.ok(Number(limited) >= Number(burst) * (Number(between) + 5));
});

Deno.test("service: cron finds the program and its folders where the service has them", async () => {
  const page = await Deno.readTextFile("docs/one-machine.md");
  const [, cron] = /`\/etc\/cron\.d\/.*?```sh\n(.*?)```/s.exec(page)!;
  assert.match(cron, new RegExp(`^PATH=\\S*${values("ExecStart")[0].replace(/\/deno .*/, "")}[:\n]`, "m"));
  for (const name of ["DENO_DIR", "DATA_DIR"]) {
    const [setting] = new RegExp(`${name}=\\S+`).exec(values("Environment")[0])!;
    assert.ok(cron.includes(`${setting}\n`), setting);
  }
});

Deno.test("service: the example of its settings starts once a key is set", async () => {
  const example = await Deno.readTextFile("deploy/settings.example");
  const settings = Object.fromEntries(
    [...example.matchAll(/^([A-Z]\w*)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );
  const files = { exists: () => false, read: () => null };
  assert.throws(() => readConfig(settings, files), /API_SECRET_KEY/);
  const { warnings, gateway, web } = readConfig({ ...settings, API_SECRET_KEY: "0".repeat(64) }, files);
  assert.deepEqual(warnings, []);
  assert.ok(gateway && web?.storage);
  const names = [...example.matchAll(/^# ([A-Z]\w*)=/gm)].map(([, name]) => name);
  const page = await Deno.readTextFile("docs/configuration.md");
  for (const name of names) assert.ok(page.includes(`| \`${name}\``), name);
});
