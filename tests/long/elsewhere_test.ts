/**
 * Runs tests of the started application against other ones: with ELSEWHERE=replicas two processes of each role behind a
 * proxy, with ELSEWHERE=hosted `hosted.ts`, as a host without a disk, signals and ports runs it.
 */
import { startInstead } from "@/tests/application.ts";
import { startHosted } from "@/tests/end_to_end/hosted_application.ts";
import { startReplicated } from "./replicated_application.ts";

/** Files that are about what the application does, and not about a process, its data folder or its metrics. */
const FILES = ["campaigns", "data_plane", "storage", "tasks", "traces", "uploads"];

const where = Deno.env.get("ELSEWHERE");

startInstead(where === "hosted" ? startHosted : startReplicated);
if (where) { for (const name of FILES) await import(`../end_to_end/${name}_test.ts`); }
