import { z } from "zod";
import { resolveLogin } from "@/lib/auth/login.ts";
import { issueToken, type TokenFormat, type TokenKey } from "@/lib/auth/token.ts";
import type { UnprovenRequests } from "@/lib/http/limit_concurrency.ts";
import { type Operation, publicOperation } from "@/lib/http/operation.ts";
import { cancelBody } from "@/lib/std/body_reader.ts";

const MAX_CREDENTIAL_CHARACTERS = 1024;

const loginForm = z.object({
  username: z.string().min(1).max(MAX_CREDENTIAL_CHARACTERS).meta({
    description: "`name` (system level) or `tenant/name`",
    examples: ["archive/curator"],
  }),
  password: z.string().min(1).max(MAX_CREDENTIAL_CHARACTERS).meta({ format: "password" }),
  tenant: z.string().optional().meta({ description: "Wins over a tenant in the username", examples: ["archive"] }),
  grant_type: z.literal("password").optional(),
  scope: z.string().optional().meta({ description: "Ignored" }),
  client_id: z.string().optional().meta({ description: "Ignored" }),
  client_secret: z.string().optional().meta({ description: "Ignored" }),
}).meta({ id: "LoginForm" });

const tokenAnswer = z.object({ access_token: z.string(), token_type: z.literal("bearer") }).meta({ id: "Token" });

interface TokenSettings {
  readonly key: TokenKey;
  readonly format: TokenFormat;
  readonly lifetimeMinutes: number;
  /** ms since 1970 */
  readonly now: () => number;
  /** Bounds the logins under way, since any client may send one. */
  readonly slots: UnprovenRequests;
}

/** Login: the only gateway operation that needs no token. It checks nothing; the store does, on later requests. */
export function authOperations({ key, format, lifetimeMinutes, now, slots }: TokenSettings): Operation[] {
  return [
    publicOperation({
      id: "login",
      method: "POST",
      path: "/api/v1/auth/token",
      tag: "Authentication",
      summary: "Log in and get a bearer token",
      description: `Always succeeds: wrong credentials show as 401 or 403 from the store on later requests. ` +
        `The token is valid for ${lifetimeMinutes} minutes.`,
      body: { kind: "form", schema: loginForm },
      responses: {
        200: { description: "The token", schema: tokenAnswer },
        422: { description: "A missing field, or an invalid tenant name" },
        503: { description: "Too many logins of this address at a time, also after a wait of one second" },
      },
      async handler({ body }, context) {
        const { username, tenant } = resolveLogin(body);
        context.caller = { username, tenant };
        const token = await issueToken(
          { sub: username, pwd: body.password, tenant },
          key,
          now() / 1000,
          lifetimeMinutes,
          format,
        );
        return Response.json({ access_token: token, token_type: "bearer" });
      },
    }, async (context) => {
      // A page that logs in has read its form already, under a slot that its own request holds.
      if (context.info?.body) return;
      try {
        context.hold(await slots.enter(context));
      } catch (error) {
        cancelBody(context.request);
        throw error;
      }
    }),
  ];
}
