/**
 * Runs tests of this folder that only use an application against other ones: with ELSEWHERE=replicas two processes of each
 * role behind a proxy, with ELSEWHERE=hosted `hosted.ts`, as a host without a disk, signals and ports runs it.
 */
import { startInstead } from "@/tests/application.ts";
import { startHosted } from "./hosted_application.ts";
import { startReplicated } from "./replicated_application.ts";

/** Files that are about what the application does, and not about a process, its data folder or its metrics. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  replicas: ["campaigns", "data_plane", "storage", "tasks", "traces", "uploads"],
  hosted: ["campaigns", "data_plane", "storage", "tasks", "traces", "uploads"],
};

const where = Deno.env.get("ELSEWHERE") ?? "";

startInstead(where === "hosted" ? startHosted : startReplicated);
for (const name of FILES[where] ?? []) await import(`./${name}_test.ts`);
