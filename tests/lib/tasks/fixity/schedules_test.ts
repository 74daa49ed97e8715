import assert from "node:assert/strict";
import { storeIdentities } from "@/lib/auth/store_credentials.ts";
import { FIXITY, FixityFigures } from "@/lib/tasks/fixity/fixity.ts";
import { fixityHandler } from "@/lib/tasks/fixity/fixity_task.ts";
import { type FailedStart, FixitySchedules, LOOK_MS, parseScheduleFile } from "@/lib/tasks/fixity/schedules.ts";
import { PROCESS_CLOCK } from "@/lib/tasks/task_keys.ts";
import { TaskRunner } from "@/lib/tasks/task_runner.ts";
import { FakeClock } from "@/tests/lib/tasks/fake_clock.ts";
import { KEYS, Scene } from "@/tests/lib/tasks/task_scene.ts";
import { until } from "@/tests/until.ts";
import { type FixityStore, startFixityStore } from "./fixity_run.ts";

const HOUR = 3_600_000;
const START = Date.parse("2026-03-02T10:30:00Z");

const FILE = `
logins:
  night: { username: curator, tenant: archive, password: secret }
schedules:
  - { name: hourly, login: night, bucket: letters, cron: "0 * * * *", full: true, baseline: last }
`;

/** Processes with one store of tasks, whose schedules look when the test lets time pass. */
class Processes {
  readonly scene = new Scene();
  readonly failures: FailedStart[] = [];
  readonly #clocks: FakeClock[] = [];
  #now = START;

  constructor(readonly store: FixityStore) {}

  process(file = FILE): FixitySchedules {
    const log = { write: () => {} };
    const { s3 } = this.store;
    const handler = fixityHandler({ s3, rate: null, clock: PROCESS_CLOCK, figures: new FixityFigures() });
    const tasks = new TaskRunner({
      store: this.scene.store(),
      keys: KEYS,
      handlers: [handler],
      bounds: { maxPerOwner: 10, maxPerTenant: 10, max: 10 },
      clock: PROCESS_CLOCK,
      log,
    });
    const clock = new FakeClock();
    this.#clocks.push(clock);
    const schedules = new FixitySchedules({
      schedules: parseScheduleFile(file),
      identify: storeIdentities("native"),
      s3,
      tasks,
      clock,
      now: () => this.#now,
      log,
      onFailure: (failure) => {
        this.failures.push(failure);
        return Promise.resolve();
      },
    });
    schedules.start();
    return schedules;
  }

  /** Lets so many ms pass; then every process looks. */
  async pass(ms: number): Promise<void> {
    this.#now += ms;
    for (const clock of this.#clocks) await clock.advance(LOOK_MS);
  }

  async tasks() {
    const { task: id } = await this.note();
    const task = id ? await this.scene.sqlite.get(id) : null;
    return task ? await this.scene.sqlite.list({ owner: task.owner, kind: FIXITY.kind, bucket: "letters" }) : [];
  }

  async note() {
    return JSON.parse(await this.scene.sqlite.readNote("fixity/hourly") ?? "{}");
  }

  async ended(count: number): Promise<void> {
    await until(`${count} checks ended`, async () => {
      const tasks = await this.tasks();
      return tasks.length === count && tasks.every(({ state }) => state !== "running") ? true : null;
    });
  }
}

Deno.test("fixity schedules: two processes start one check at a time, and none before the first time", async () => {
  await using store = startFixityStore();
  store.put("a", "bytes");
  const processes = new Processes(store);
  const [one, other] = [processes.process(), processes.process()];
  await processes.pass(0);
  await processes.pass(HOUR / 4);
  assert.equal((await processes.note()).state, "waiting");
  await processes.pass(HOUR / 2);
  await processes.ended(1);
  await processes.pass(HOUR / 12);
  await processes.ended(1);
  assert.ok(one.figures[0].succeededAt !== null && !one.figures[0].isFailing);
  assert.ok(other.figures[0].succeededAt !== null);
  // The hours that passed meanwhile are one check, which is compared with the one before.
  await processes.pass(5 * HOUR);
  await processes.ended(2);
  await processes.pass(1000);
  await processes.ended(2);
  for (const process of [one, other]) await process.stop();
});

Deno.test("fixity schedules: a start that broke off is made by another process, under the same id", async () => {
  await using store = startFixityStore();
  store.put("a", "bytes");
  const processes = new Processes(store);
  const first = processes.process();
  await processes.pass(0);
  await first.stop();
  const id = crypto.randomUUID();
  const note = await processes.note();
  const broken = { ...note, due: START, task: id, state: "starting", triedAt: START };
  assert.ok(await processes.scene.sqlite.replaceNote("fixity/hourly", JSON.stringify(note), JSON.stringify(broken)));
  const second = processes.process();
  await processes.pass(30_000);
  assert.equal((await processes.tasks()).length, 0, "the other one may still be at it");
  await processes.pass(40_000);
  await processes.ended(1);
  assert.deepEqual((await processes.tasks()).map((task) => task.id), [id]);
  await second.stop();
});

Deno.test("fixity schedules: a login that is refused is told once, and the next time is tried again", async () => {
  await using store = startFixityStore();
  const processes = new Processes(store);
  const schedules = processes.process(FILE.replace("bucket: letters", 'bucket: letters, manifest: "no-such"'));
  await processes.pass(0);
  await processes.pass(HOUR);
  await until("it failed", () => processes.failures.length > 0 ? true : null);
  await processes.pass(HOUR / 4);
  assert.deepEqual(processes.failures.map(({ schedule, error }) => [schedule.name, error]), [
    ["hourly", "manifest: there is no object 'no-such' in bucket 'letters'"],
  ]);
  assert.ok(schedules.figures[0].isFailing);
  store.put("no-such", "");
  await processes.pass(HOUR);
  await processes.ended(1);
  await processes.pass(1000);
  assert.ok(!schedules.figures[0].isFailing);
  await schedules.stop();
});
