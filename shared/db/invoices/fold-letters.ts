/**
 * Letters that Unicode does not decompose, as CLDR's transform Latin-ASCII spells them (ə as ICAO Doc 9303 part 3 does); the Greek final sigma;
 * letters that Arabic and Persian keyboards spell differently, and endings that are written either way (as Lucene's ArabicNormalizer and
 * PersianNormalizer). Apostrophes that Unicode counts as letters separate words, as every other one does.
 */
const SPELLINGS: Readonly<Record<string, string>> = {
  ...{ æ: 'ae', œ: 'oe', ß: 'ss', þ: 'th', ø: 'o', ł: 'l', đ: 'd', ð: 'd', ħ: 'h', ŧ: 't', ı: 'i', ŋ: 'n', ĸ: 'q' },
  ...{ ə: 'e', ɛ: 'e', ɔ: 'o', ɓ: 'b', ɗ: 'd', ɖ: 'd', ƒ: 'f', ɣ: 'g', ƙ: 'k', ʋ: 'v', ƴ: 'y' },
  ...{ ς: 'σ', ی: 'ي', ى: 'ي', ک: 'ك', ة: 'ه', ـ: '', ʻ: "'", ʼ: "'" },
}

/** One spelling of a text for searches, however it was typed: without case and accents, each letter as the keyboards have it that lack it. */
export const foldLetters = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/\P{ASCII}/gu, (letter) => SPELLINGS[letter] ?? letter)
