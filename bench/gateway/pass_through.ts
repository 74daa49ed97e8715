/** The floor of the gateway's figures: the least that hands a request on. `pass_through.ts S3_ORIGIN MAPI_ORIGIN`. */
import { TEST_CA } from "@/tests/lib/http/certificates.ts";

const [s3, mapi] = Deno.args;
const client = Deno.createHttpClient({ caCerts: [TEST_CA], http2: false });

const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
  const target = request.url.slice(request.url.indexOf("/", 7));
  const { method, headers, body } = request;
  const origin = target.startsWith("/mapi/") ? mapi : s3;
  const answer = await fetch(origin + target, { method, headers, body, redirect: "manual", client });
  return new Response(answer.body, { status: answer.status, headers: answer.headers });
});
console.log(`http://127.0.0.1:${server.addr.port}`);
