import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/closed_side.ts";
import * as sv from "@/locales/sv/closed_side.ts";
import { accountKind } from "./login_sentences.ts";

const CLOSED = inLanguage({ en: en.CLOSED, sv: sv.CLOSED });

/** A side of the site that a login did not open. */
interface ClosedSide {
  readonly side: "campaigns" | "storage";
  /**
   * The status with which it refused the login; `tenant`: the tenant of the name is not known; `no session`: that
   * of this login has ended, or there was none.
   */
  readonly reason: number | "tenant" | "no session";
}

/**
 * Which side of the site a login did not open, and why.
 *
 * @param account the name of the login; null: not known
 * @param campaignTenant the tenant whose accounts open the campaigns; null where it is not known or there are no tenants
 */
export function closedSideSentence(
  { side, reason }: ClosedSide,
  account: string | null,
  campaignTenant: string | null,
): string {
  const isOfTenant = campaignTenant === null || (account !== null && accountKind(account, campaignTenant) === "own");
  if (side === "campaigns" && (reason === 401 || reason === "no session") && !isOfTenant) {
    return CLOSED.campaigns.otherTenant(campaignTenant);
  }
  const words = CLOSED[side];
  switch (reason) {
    case "tenant":
      return CLOSED.storage.tenant;
    case "no session":
      return CLOSED.campaigns.noSession;
    case 401:
      return words.wrong;
    case 413:
    case 422:
      return words.malformed;
    case 429:
      return words.tooMany;
    case 503:
      return words.busy;
    default:
      return words.unreachable;
  }
}
