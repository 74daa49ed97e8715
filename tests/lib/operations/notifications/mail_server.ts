import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { TEST_CERTIFICATE, TEST_KEY } from "@/tests/lib/http/certificates.ts";

/** A mail as the server took it. */
interface TakenMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Whether it came over TLS. */
  readonly isSecure: boolean;
  readonly user: string | null;
  /** Header fields by their names in lower case, unfolded. */
  readonly headers: ReadonlyMap<string, string>;
  /** As sent. */
  readonly body: string;
}

/** A real SMTP server on loopback, whose users have the password `word`. */
export class MailServer implements AsyncDisposable {
  readonly mails: TakenMail[] = [];
  readonly #server: SMTPServer;

  private constructor(options: SMTPServerOptions) {
    this.#server = new SMTPServer({
      name: "mail.test",
      key: TEST_KEY,
      cert: TEST_CERTIFICATE,
      authOptional: true,
      onAuth({ username, password }, _session, callback) {
        if (password === "word") callback(null, { user: username });
        else callback(Object.assign(new Error("no: top-secret"), { responseCode: 535 }));
      },
      onData: (stream, session, callback) => {
        let text = "";
        stream.on("data", (chunk: Uint8Array) => text += new TextDecoder().decode(chunk));
        stream.on("end", () => {
          const end = text.indexOf("\r\n\r\n");
          const lines = text.slice(0, end).replace(/\r\n[ \t]/g, " ").split("\r\n");
          const { mailFrom, rcptTo } = session.envelope;
          this.mails.push({
            from: mailFrom ? mailFrom.address : "",
            to: rcptTo.map(({ address }) => address),
            isSecure: session.secure,
            user: session.user ? String(session.user) : null,
            headers: new Map(lines.map((line) => [line.split(":")[0].toLowerCase(), line.replace(/^[^:]*: */, "")])),
            body: text.slice(end + 4),
          });
          callback();
        });
      },
      ...options,
    });
    this.#server.on("error", () => {});
  }

  static async start(options: SMTPServerOptions = {}): Promise<MailServer> {
    const server = new MailServer(options);
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server.server, "listening");
    return server;
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
