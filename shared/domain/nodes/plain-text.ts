/**
 * One printable line of a text that a node or provider chose, without a full stop at its end. Of a URL only its host is kept, because
 * the rest may be a credential; control characters, which a terminal would interpret, become spaces.
 */
export function plainText(text: string): string {
  return text
    .replaceAll(/(?<![a-z0-9+.-])[a-z0-9+.-]+:\/\/[^\s"'<>]+/gi, (url) =>
      URL.canParse(url) ? new URL(url).host : 'a URL',
    )
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .replace(/(?<!\.)\.+$/, '')
}
