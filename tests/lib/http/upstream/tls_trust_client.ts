/**
 * Requests a server by both transports of the upstream client, and prints the outcomes: `origin` and a JSON list of
 * further authorities are the arguments. Run in a process of its own, whose variables decide what the runtime trusts.
 */
import { upstreamClient } from "@/lib/http/upstream.ts";

const [origin, authorities] = Deno.args;
const client = upstreamClient({ verifyTls: true, caCerts: JSON.parse(authorities), timeoutMs: 5000 });
const outcomes: string[] = [];
for (const target of ["/by-fetch", "/by/../node"]) {
  try {
    const response = await client.send({ method: "GET", origin, target, headers: {} });
    await response.body?.cancel();
    outcomes.push(String(response.status));
  } catch (error) {
    outcomes.push(error instanceof Error && "problem" in error ? String(error.problem) : String(error));
  }
}
console.log(outcomes.join(" "));
Deno.exit(0);
