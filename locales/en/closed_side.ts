/** Which side of the site a login did not open, and why. */
export const CLOSED = {
  campaigns: {
    otherTenant: (tenant: string) =>
      `This login opens the storage only: the campaigns open with accounts of the tenant ${tenant}.`,
    wrong: "This login opens the storage only: the campaigns do not accept this name and password.",
    malformed: "This login opens the storage only: the name or the password is too long for the campaigns.",
    tooMany:
      "This login opens the storage only: the campaigns had too many wrong logins. Log in again in a few minutes.",
    busy: "This login opens the storage only: the campaigns take no logins at the moment. Log in again shortly.",
    unreachable: "This login opens the storage only: the campaigns could not check it. Log in again later.",
    noSession: "This login opens the storage only: its session of the campaigns has ended, or there was none.",
  },
  storage: {
    wrong: "Your last login opens the campaigns only: the storage does not accept this name and password.",
    malformed:
      "Your last login opens the campaigns only: the storage can have no such account, or its password is too long.",
    tooMany:
      "Your last login opens the campaigns only: the storage had too many wrong logins. Log in again in a few minutes.",
    busy: "Your last login opens the campaigns only: the storage takes no logins at the moment. Log in again shortly.",
    unreachable: "Your last login opens the campaigns only: the storage could not check it. Log in again later.",
    tenant: "Your last login opens the campaigns only: the name says no tenant. For the storage log in as tenant/name.",
  },
};
