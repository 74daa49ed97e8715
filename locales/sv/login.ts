import { counted } from "@/lib/pages/locale/figures.ts";
import type * as en from "@/locales/en/login.ts";

const MALFORMED = "Användarnamnet eller lösenordet saknas eller är för långt.";
const UNREACHABLE = "Resultatlagret svarar inte, så inloggningen kan inte kontrolleras. Försök igen om en stund.";

export const LOGIN_LABELS: typeof en.LOGIN_LABELS = {
  title: "Logga in",
  pitch: "Skannade handlingar, lästa maskinellt, i egen lagring.",
  about: "Stackroom läser skannade samlingar i omgångar, visar hur långt varje volym har kommit och lägger texten " +
    "bredvid sidan.",
  userName: "Användarnamn",
  password: "Lösenord",
  logIn: "Logga in",
  goOn: "Fortsätt",
  apiPage: "API-sidan",
  samples: "Inget konto? Prova en exempelinloggning",
  samplePassword: "Lösenord till dem:",
  sampleName: "Användarnamn",
  samplePurpose: "Öppnar",
  lookAround: (name) => `Se dig omkring som ${name}`,
};

export const LOGIN_SENTENCES: typeof en.LOGIN_SENTENCES = {
  loggedOut: "Du är utloggad.",
  endedEarly: "Sessionen har avslutats: den loggades ut eller kontot ändrades. Logga in igen.",
  loggedInAs: (user) => `Du är inloggad som ${user}.`,
  leadsBack: "Efter inloggningen kommer du tillbaka till sidan du var på.",
};

export const SAMPLE_PURPOSES: typeof en.SAMPLE_PURPOSES = {
  "archive/reader": "kampanjer: sidor, texter, loggar",
  "archive/curator": "kampanjer och lagringen för archive",
  "research/researcher": "lagringen för research, inga kampanjer",
  "admin": "lagrets tenanter (API), inga kampanjer",
};

export const ACCOUNT_SENTENCES: typeof en.ACCOUNT_SENTENCES = {
  "other tenant": (tenant) =>
    `Fel användarnamn eller lösenord, eller så öppnar kontot inga kampanjer: de öppnas bara med konton i tenanten ${tenant}.`,
  "no tenant": (tenant) =>
    `Inget konto i tenanten ${tenant} har det här namnet och lösenordet, och bara dess konton öppnar kampanjerna. Ett ` +
    "konto på systemnivå hanterar lagrets tenanter via API:et.",
};

export const LOGIN_ERRORS: typeof en.LOGIN_ERRORS = {
  401: "Fel användarnamn eller lösenord.",
  403:
    "Sidan öppnades inte under webbplatsens egen adress, så inloggningen avvisades. Öppna webbplatsen på dess vanliga adress.",
  413: MALFORMED,
  422: MALFORMED,
  429: "Det går inte att logga in just nu. Vänta upp till fem minuter och försök sedan igen.",
  502: UNREACHABLE,
  503: "Inloggningen är inte tillgänglig just nu. Försök igen senare.",
  504: UNREACHABLE,
  logout:
    "Du är utloggad i den här webbläsaren, men servern kunde inte avsluta kampanjsessionen. En kopierad kaka gäller " +
    "tills den går ut.",
  other: "Inloggningen fungerade inte. Försök igen om en stund.",
};

export const LOGIN_MOMENTS: typeof en.LOGIN_MOMENTS = {
  at: (time) => time,
  ended: (when) => `Sessionen avslutades ${when}. Logga in igen.`,
  endedOf: (account, when) => `Sessionen för ${account} avslutades ${when}.`,
  unlocked: "Det blev för många försök. Du kan försöka igen nu.",
  lockedFor: (span) => `För många försök. Försök igen om ${span}.`,
  lockedUntil: (time) => `För många försök. Försök igen ${time}.`,
  seconds: (count) => counted(count, "sekund", "sekunder"),
};

export const CLOSED: typeof en.CLOSED = {
  otherTenant: (tenant) => `Inloggningen öppnar bara lagringen: kampanjerna öppnas med konton i tenanten ${tenant}.`,
  campaigns: {
    401: "Inloggningen öppnar bara lagringen: kampanjerna godtar inte det här namnet och lösenordet.",
    413: "Inloggningen öppnar bara lagringen: namnet eller lösenordet är för långt för kampanjerna.",
    429:
      "Inloggningen öppnar bara lagringen: kampanjerna har fått för många felaktiga inloggningar. Logga in igen om några minuter.",
    503:
      "Inloggningen öppnar bara lagringen: det går inte att logga in till kampanjerna just nu. Logga in igen om en stund.",
    other: "Inloggningen öppnar bara lagringen: den kunde inte kontrolleras för kampanjerna. Logga in igen senare.",
    "no session":
      "Inloggningen öppnar bara lagringen: dess session för kampanjerna har upphört, eller så fanns det ingen.",
  },
  storage: {
    401: "Din senaste inloggning öppnar bara kampanjerna: lagringen godtar inte det här namnet och lösenordet.",
    413:
      "Din senaste inloggning öppnar bara kampanjerna: lagringen kan inte ha ett sådant konto, eller så är lösenordet för långt.",
    429:
      "Din senaste inloggning öppnar bara kampanjerna: lagringen har fått för många felaktiga inloggningar. Logga in igen om några minuter.",
    503:
      "Din senaste inloggning öppnar bara kampanjerna: det går inte att logga in till lagringen just nu. Logga in igen om en stund.",
    other:
      "Din senaste inloggning öppnar bara kampanjerna: den kunde inte kontrolleras för lagringen. Logga in igen senare.",
    tenant:
      "Din senaste inloggning öppnar bara kampanjerna: namnet anger ingen tenant. Logga in som tenant/namn för att öppna lagringen.",
  },
};
