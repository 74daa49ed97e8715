import type { RequestLog } from "@/lib/http/access_log.ts";
import type { DataFolder } from "@/lib/process/data_folder.ts";
import { type RevocationFile, RevocationFileError, RevokedSessions } from "@/lib/results/revoked_sessions.ts";
import type { SignedSet } from "@/lib/shared_state/signed_set.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import { textIfExists, writeDurably } from "@/lib/std/files.ts";

/** Their file in the data folder. */
export const REVOKED_SESSIONS_FILE = "revoked-sessions.json";

/**
 * Sessions that ended before their time, stored in the data folder; without one they are known until the process ends.
 *
 * @param shared those of all replicas; null: of this one alone
 * @throws {DataFolderError}
 */
export function revokedSessions(
  folder: DataFolder | null,
  log: RequestLog,
  shared: SignedSet | null = null,
): RevokedSessions {
  const sessions = (file: RevocationFile | null) => new RevokedSessions(file, log, Date.now, undefined, shared);
  if (!folder) return sessions(null);
  const path = `${folder.path}/${REVOKED_SESSIONS_FILE}`;
  try {
    return sessions(fileAt(path));
  } catch (error) {
    if (!(error instanceof RevocationFileError)) throw error;
    throw new DataFolderError(
      `The file ${path} ${error.message}: restore it, or delete it and replace the session key (session-key.secret, ` +
        "or what RESULTS_SESSION_KEY_FILE names), which ends all sessions.",
    );
  }
}

function fileAt(path: string): RevocationFile {
  return {
    read() {
      try {
        return textIfExists(path);
      } catch {
        throw new RevocationFileError("cannot be read");
      }
    },
    write: (text) => writeDurably(path, new TextEncoder().encode(text)),
  };
}
