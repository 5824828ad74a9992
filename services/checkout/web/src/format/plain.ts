/** Characters that are invisible or change the direction of text (UAX #9, UTR #36), without line ends and the joiners of scripts and emoji. */
const UNSEEN = /(?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Other people's text for display: invisible characters are shown as ␦. */
export function plain(text: string): string {
  return text.replace(UNSEEN, '␦')
}
