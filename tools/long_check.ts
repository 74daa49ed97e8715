/**
 * Runs tests under conditions that `deno task test` leaves out: `deno run --allow-env --allow-run tools/long_check.ts NAME`.
 */
import { refuseArguments, toolArguments } from "./arguments.ts";

const USAGE = "deno run --allow-env --allow-run tools/long_check.ts replicas | hosted | fallbacks | servers";

interface Check {
  readonly tests: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Environment variables of which one has to be set. */
  readonly needs?: readonly string[];
}

const STARTED_ELSEWHERE = "tests/long/elsewhere_test.ts";

const CHECKS: Readonly<Record<string, Check>> = {
  /** Two processes of each role behind a proxy, and their restarts. */
  replicas: {
    tests: [STARTED_ELSEWHERE, "tests/long/replicas_restart_test.ts"],
    env: { ELSEWHERE: "replicas" },
  },
  /** `hosted.ts`, without the rights to write, to run or to ask the system. */
  hosted: { tests: [STARTED_ELSEWHERE, "tests/end_to_end/hosted_test.ts"], env: { ELSEWHERE: "hosted" } },
  /** HTTP on the public API of the runtime alone. */
  fallbacks: { tests: ["tests/long/fallbacks_test.ts"] },
  /** Stores and clusters of others; `…_ACCESS_KEY` and `…_SECRET_KEY` stand beside each `…_URL`. */
  servers: { tests: ["tests/servers/"], needs: ["TEST_MINIO_URL", "TEST_VERSITYGW_URL", "KUBERNETES_KUBECONFIG"] },
};

const { words: [name = ""] } = toolArguments(USAGE, { words: 1 });
if (!Object.hasOwn(CHECKS, name)) refuseArguments(`No check '${name}'`, USAGE);
const { tests, env, needs = [] } = CHECKS[name];
if (needs.length > 0 && !needs.some((variable) => Deno.env.has(variable))) {
  refuseArguments(`${name} needs one of ${needs.join(", ")}`);
}
const { code } = await new Deno.Command(Deno.execPath(), {
  args: ["test", "--config", "deno.test.json", "-A", "--no-check", ...tests],
  env,
}).spawn().status;
Deno.exit(code);
