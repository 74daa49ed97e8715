/**
 * Runs tests of this folder against two processes of each role behind a proxy: a few, or with REPLICATED=all every file
 * that is not about a process.
 */
import assert from "node:assert/strict";
import { startInstead } from "@/tests/application.ts";
import { REDIS_PROGRAM } from "@/tests/redis_server.ts";
import { startReplicated } from "./replicated_application.ts";

/** Files that are always run. */
const FEW = ["data_plane"];

/** Files that are about something else than what the application does, and what that is. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  alerts: "the metrics of a process",
  audit_places: "the folders and settings of one process",
  audit_trail: "the data folder",
  backup: "the data folder",
  chunked_bodies: "the connections of one process",
  crash: "the data folder",
  first_path: "the memory of one process",
  fixity: "the data folder",
  fixity_manifest: "the data folder",
  fixity_schedule: "the data folder",
  fixity_report: "the data folder",
  full_disk: "the disk of the embedded store",
  hosted: "the start without a disk",
  hosted_all: "a host without a disk, started by the test",
  io_faults: "the data folder",
  kill: "the data folder",
  launcher: "the launcher",
  metrics: "the metrics of a process",
  notifications: "processes, started by the test",
  one_machine: "one process with a store in real use",
  operations: "the document of all roles in one process",
  records_kill: "the data folder",
  replicas: "replicas, started by the test",
  replicas_restart: "replicas, started by the test",
  replicated: "this file",
  request_bodies: "the connections of one process",
  secure_upstreams: "stores and clusters over TLS",
  shared_state: "one process and Redis",
  shared_tasks: "replicas, started by the test",
  siege: "the bounds of one process",
  smoke: "the start of one process",
  start_and_stop: "the start and the stop of a process",
  stop_in_parts: "the stop of a process",
  storage_accounts: "accounts of several tenants, of which the setup of replicas has one",
  storage_apart: "roles in two processes, started by the test",
  task_faults: "one process and a store with faults",
  tls: "the TLS of a process",
};

const ALL = [...Deno.readDirSync(import.meta.dirname!)].flatMap(({ name }) => /^(.*)_test\.ts$/.exec(name)?.[1] ?? []);
const isAll = Deno.env.get("REPLICATED") === "all";

startInstead(startReplicated);
for (const name of isAll ? ALL.sort() : FEW) {
  if (Object.hasOwn(LEFT_OUT, name)) continue;
  if (REDIS_PROGRAM !== null) await import(`./${name}_test.ts`);
  // So that the report of a machine without Redis names what did not run.
  else Deno.test.ignore(`replicas: the tests of ${name}`, () => {});
}

Deno.test("replicas: each file that is named is there", () => {
  for (const name of [...FEW, ...Object.keys(LEFT_OUT)]) assert.ok(ALL.includes(name), name);
});
