/**
 * Runs tests of the started application against other ones: with ELSEWHERE=replicas two processes of each role behind a
 * proxy, with ELSEWHERE=hosted `hosted.ts`, as a host without a disk, signals and ports runs it.
 */
import { startInstead } from "@/tests/application.ts";
import { startHosted } from "@/tests/end_to_end/hosted_application.ts";
import { startReplicated } from "./replicated_application.ts";

/** Files that are about what the application does, and not about a process, its data folder or its metrics. */
const FILES = [
  () => import("@/tests/end_to_end/campaigns_test.ts"),
  () => import("@/tests/end_to_end/shared/data_plane_test.ts"),
  () => import("@/tests/end_to_end/shared/storage_test.ts"),
  () => import("@/tests/end_to_end/shared/uploads_test.ts"),
  () => import("@/tests/end_to_end/tasks_test.ts"),
  () => import("@/tests/end_to_end/traces_test.ts"),
];

const where = Deno.env.get("ELSEWHERE");

startInstead(where === "hosted" ? startHosted : startReplicated);
if (where) { for (const load of FILES) await load(); }
