import type * as en from "@/locales/en/closed_side.ts";

export const CLOSED: typeof en.CLOSED = {
  campaigns: {
    otherTenant: (tenant) => `Inloggningen öppnar bara lagringen: kampanjerna öppnas med konton i tenanten ${tenant}.`,
    wrong: "Inloggningen öppnar bara lagringen: kampanjerna godtar inte det här namnet och lösenordet.",
    malformed: "Inloggningen öppnar bara lagringen: namnet eller lösenordet är för långt för kampanjerna.",
    tooMany:
      "Inloggningen öppnar bara lagringen: kampanjerna har fått för många felaktiga inloggningar. Logga in igen om några minuter.",
    busy:
      "Inloggningen öppnar bara lagringen: det går inte att logga in till kampanjerna just nu. Logga in igen om en stund.",
    unreachable:
      "Inloggningen öppnar bara lagringen: den kunde inte kontrolleras för kampanjerna. Logga in igen senare.",
    noSession:
      "Inloggningen öppnar bara lagringen: dess session för kampanjerna har upphört, eller så fanns det ingen.",
  },
  storage: {
    wrong: "Din senaste inloggning öppnar bara kampanjerna: lagringen godtar inte det här namnet och lösenordet.",
    malformed:
      "Din senaste inloggning öppnar bara kampanjerna: lagringen kan inte ha ett sådant konto, eller så är lösenordet för långt.",
    tooMany:
      "Din senaste inloggning öppnar bara kampanjerna: lagringen har fått för många felaktiga inloggningar. Logga in igen om några minuter.",
    busy:
      "Din senaste inloggning öppnar bara kampanjerna: det går inte att logga in till lagringen just nu. Logga in igen om en stund.",
    unreachable:
      "Din senaste inloggning öppnar bara kampanjerna: den kunde inte kontrolleras för lagringen. Logga in igen senare.",
    tenant:
      "Din senaste inloggning öppnar bara kampanjerna: namnet anger ingen tenant. Logga in som tenant/namn för att öppna lagringen.",
  },
};
