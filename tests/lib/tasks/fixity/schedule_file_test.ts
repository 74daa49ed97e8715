import assert from "node:assert/strict";
import { parseScheduleFile, ScheduleFileError, timeAfter } from "@/lib/tasks/fixity/schedules.ts";

const LOGIN = "logins:\n  night: { username: archive/curator, password: the-password }\n";
const schedule = (text: string) => `${LOGIN}schedules:\n  - { name: weekly, login: night, bucket: scans, ${text} }\n`;

Deno.test("schedule file: has defaults, and is YAML or JSON", () => {
  const [read] = parseScheduleFile(schedule('cron: "0 2 * * 0"'));
  assert.deepEqual([read.name, read.time_zone, read.prefix, read.full], ["weekly", "UTC", "", false]);
  assert.deepEqual(read.login, { username: "archive/curator", password: "the-password" });
  const json = JSON.stringify({
    logins: { night: { username: "u", password: "p" } },
    schedules: [{ name: "a", login: "night", bucket: "b", cron: "30 1 1 * *", time_zone: "Europe/Stockholm" }],
  });
  assert.equal(parseScheduleFile(json).length, 1);
  assert.deepEqual(parseScheduleFile("logins: {}\nschedules: []\n"), []);
});

Deno.test("schedule file: what is wrong is named, and nothing of a login is quoted", () => {
  const wrong: [string, RegExp][] = [
    ["", /^the file: /],
    ["a: [", /^the file is no YAML/],
    [schedule('cron: "61 2 * * 0"'), /^schedules\.0\.cron: is no cron expression/],
    [schedule('cron: "* * * * * *"'), /^schedules\.0\.cron: is no cron expression/],
    [schedule('cron: "0 2 30 2 *"'), /^schedules\.0\.cron: never comes/],
    [schedule('cron: "0 2 * * 0", time_zone: Moon/Base'), /^schedules\.0\.time_zone: is no time zone/],
    [schedule('cron: "0 2 * * 0", prefx: a'), /^schedules\.0: /],
    [schedule('cron: "0 2 * * 0", rate: 5'), /^schedules\.0\.rate: /],
    [schedule('cron: "0 2 * * 0", baseline: last'), /^schedules\.0\.baseline: needs full/],
    [`${LOGIN}schedules: [{ name: A_b, login: night, bucket: b, cron: "0 2 * * *" }]`, /^schedules\.0\.name: must be/],
    [`${LOGIN}schedules: [{ name: a, login: other, bucket: b, cron: "0 2 * * *" }]`, /^schedules\.0\.login: is none/],
    [
      `${LOGIN}schedules: [{ name: a, login: night, bucket: b, cron: "0 2 * * *" }, ` +
      `{ name: a, login: night, bucket: b, cron: "0 3 * * *" }]`,
      /^schedules\.1\.name: another/,
    ],
    [`logins: { x: { username: u, password: the-password, extra: 1 } }\nschedules: []`, /^logins\.x: /],
    [`logins: { x: { username: u, password: a-beginning,the-password } }\nschedules: []`, /^logins\.x: has a member/],
    [schedule('cron: "0 2 * * 0", full: true, baseline: last, all_versions: true'), /^schedules\.0\.baseline: cannot/],
    [schedule('cron: "0 2 * * 0", manifest_root: a/'), /^schedules\.0\.manifest_root: has no meaning without manifest/],
    [schedule('cron: "0 2 * * 0", bag: true, prefix: a'), /^schedules\.0\.prefix: that of a bag/],
    [schedule('cron: "0 2 * * 0", bag: true, manifest: a'), /^schedules\.0\.manifest: a bag has manifests/],
    [schedule('cron: "0 2 * * 0", overwrite: true'), /^schedules\.0\.overwrite: checks no longer write/],
    [`logins: { x: the-password }\nschedules: []`, /^logins\.x: /],
    [`logins: &a { x: { username: *a, password: the-password } }\nschedules: []`, /^(?:the file is no YAML|logins)/],
  ];
  for (const [text, message] of wrong) {
    assert.throws(() => parseScheduleFile(text), (error) => {
      assert.ok(error instanceof ScheduleFileError, String(error));
      assert.match(error.message, message, text);
      assert.doesNotMatch(error.message, /the-password/);
      return true;
    });
  }
});

Deno.test("schedule: its times are those of its zone, in summer and in winter", () => {
  const daily = { cron: "30 2 * * *", time_zone: "Europe/Stockholm" };
  const next = (after: string) => new Date(timeAfter(daily, Date.parse(after)) ?? NaN).toISOString();
  assert.equal(next("2026-01-10T00:00:00Z"), "2026-01-10T01:30:00.000Z");
  assert.equal(next("2026-07-10T01:00:00Z"), "2026-07-11T00:30:00.000Z");
  assert.equal(next("2026-07-11T00:30:00Z"), "2026-07-12T00:30:00.000Z");
});
