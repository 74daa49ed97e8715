import { chunkedUploads, inventedTokenUploads } from "./false_uploads.ts";
import { loginGuesses, s3Guesses } from "./guesses.ts";
import type { Attack } from "./hostile_connections.ts";
import { halfHeads, slowLogins, unreadAnswers } from "./held_connections.ts";

/** The attacks of the siege, in order. */
export const ATTACKS: readonly Attack[] = [
  inventedTokenUploads,
  slowLogins,
  chunkedUploads,
  s3Guesses,
  loginGuesses,
  halfHeads,
  unreadAnswers,
];
