import { createSecretKey, type KeyObject } from "node:crypto";
import type { GuessLimits } from "@/lib/auth/credential_memory.ts";
import { type Config, ConfigError } from "@/lib/config/mod.ts";
import type { RequestLog } from "@/lib/http/app.ts";
import type { DataFolder } from "@/lib/process/data_folder.ts";
import type { RevokedSessions } from "@/lib/auth/revoked_sessions.ts";
import type { SessionKeys } from "@/lib/auth/session_token.ts";
import { EventPublisher, type FollowedStream, StreamFollower } from "@/lib/state/event_streams.ts";
import { commonKeys, type CommonSecrets, SealedEvents } from "@/lib/state/sealed_events.ts";
import { signedSet } from "@/lib/state/signed_set.ts";
import { REDIS_PREFIX, RedisClient } from "@/lib/state/redis_client.ts";
import { tokenSecrets } from "./gateway.ts";
import { sessionKeys } from "./results.ts";
import { caCertificates } from "./shared.ts";
import { storageSecrets } from "./web.ts";

/** Verdicts of processes that play the gateway, and of those that do not: they have no secret in common. */
const VERDICTS = { gateway: `${REDIS_PREFIX}verdicts`, results: `${REDIS_PREFIX}results-verdicts` };
const REVOKED = `${REDIS_PREFIX}revoked-sessions`;
const REVOCATIONS = `${REDIS_PREFIX}revocations`;
/** How long a start waits for what the other replicas know, ms. */
const START_TIMEOUT_MS = 2000;

/** Shares refused logins and revoked sessions with the processes that have the same secrets. Throws SessionKeyError. */
export function replication(config: Config, url: string, folder: DataFolder | null, log: RequestLog) {
  const caCerts = caCertificates(config);
  const redis = new RedisClient({ url, caCerts, warn: (message) => log.write({ level: "warn", message }) });
  const sessions = sessionSecrets(config, folder);
  const secrets = verdictSecrets(config, folder) ?? sessions;
  if (secrets === null) throw new ConfigError("REDIS_URL", "is not used by the roles of this process");
  const verdicts = config.gateway ? VERDICTS.gateway : VERDICTS.results;
  const verdictEvents = new SealedEvents(verdicts, commonKeys(secrets, "verdicts"));
  const publisher = new EventPublisher(redis, verdicts, verdictEvents);
  const revocationEvents = sessions && new SealedEvents(REVOCATIONS, commonKeys(sessions, "revocations"));
  const revocations = sessions && revocationEvents && signedSet({
    redis,
    name: REVOKED,
    keys: commonKeys(sessions, "revoked sessions"),
    stream: REVOCATIONS,
    events: revocationEvents,
  });
  let follower: StreamFollower | null = null;
  return {
    /** Sends a verdict on credentials to the others. */
    share: (verdict: unknown) => publisher.publish(verdict),
    /** The revoked sessions and storage logins of all replicas; null where this process has no key of sessions. */
    revocations,
    /** Applies what the others share. Resolves when what they shared before is applied, or after two seconds. */
    async start(guesses: GuessLimits, revoked: RevokedSessions | null) {
      const streams: FollowedStream[] = [{
        name: verdicts,
        apply: (entry) => verdictEvents.open(entry).forEach((verdict) => guesses.apply(verdict)),
      }];
      if (sessions && revocationEvents && revoked) {
        streams.push(followedRevocations(revocationEvents, sessions, revoked));
      }
      // A second connection, because its commands block. The first one reports outages of the server.
      follower = new StreamFollower(new RedisClient({ url, caCerts, warn: () => {} }), streams, log);
      await follower.ready(START_TIMEOUT_MS);
    },
    async close() {
      await publisher.close();
      await follower?.close();
      await redis.close();
    },
  };
}

/** The keys of the results role, else those of the storage pages, which are the same where roles are apart. */
function sessionSecrets({ results, web, gateway }: Config, folder: DataFolder | null): SessionKeys | null {
  if (results) return sessionKeys(results.sessionKey, folder);
  return web?.storage ? storageSecrets({ gateway }, web.storage, folder) : null;
}

function verdictSecrets({ gateway }: Config, folder: DataFolder | null): CommonSecrets | null {
  if (!gateway) return null;
  const secrets = tokenSecrets(gateway, folder).map((secret) => createSecretKey(secret));
  return () => secrets;
}

function followedRevocations(events: SealedEvents, secrets: CommonSecrets, revoked: RevokedSessions): FollowedStream {
  let seen: readonly KeyObject[] = [];
  return {
    name: REVOCATIONS,
    connected: () => {
      seen = secrets();
      return revoked.synchronize();
    },
    checked: () => {
      const current = secrets();
      if (current.length === 0 || current === seen) return;
      // A session key was replaced: what was written with the new one could not be read before.
      seen = current;
      void revoked.synchronize();
    },
    apply: (entry) => revoked.apply(events.open(entry).filter((text) => typeof text === "string")),
  };
}
