import { parseWebhookSecrets, webhookSignature } from "@/lib/operations/notifications/webhook.ts";

export const WEBHOOK_SECRET = `whsec_${btoa("a secret of thirty-two bytes ok!")}`;

/** A notification as a receiver gets it. */
interface Received {
  readonly path: string;
  readonly id: string;
  readonly body: {
    readonly id: string;
    readonly type: string;
    readonly link: string | null;
    readonly data: Readonly<Record<string, unknown>>;
  };
  /** Whether its signature is right, and of these seconds. */
  readonly isGenuine: boolean;
}

/** A server on loopback that records notifications and responds as a test says. */
export class WebhookReceiver implements AsyncDisposable {
  readonly received: Received[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  /** @param respond receives the number of the request, from 0 */
  constructor(respond: (n: number, request: Request) => Response | Promise<Response> = () => new Response()) {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
      const n = this.received.length;
      const text = await request.text();
      const { headers } = request;
      const id = headers.get("webhook-id") ?? "";
      const timestamp = Number(headers.get("webhook-timestamp"));
      const signature = webhookSignature(parseWebhookSecrets(WEBHOOK_SECRET) ?? [], id, timestamp, text);
      this.received.push({
        path: new URL(request.url).pathname,
        id,
        body: JSON.parse(text),
        isGenuine: headers.get("webhook-signature") === signature && Math.abs(Date.now() / 1000 - timestamp) < 300,
      });
      return await respond(n, request);
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/hook`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
