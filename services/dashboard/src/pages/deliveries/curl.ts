/** The request as a shell command; every part is quoted, so that other people's text cannot end it. */
export function curlOf(url: string, headers: Readonly<Record<string, string>>, body: string): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const lines = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
  return ['curl -X POST', quoted(url), ...lines, '--data-binary', quoted(body)].join(' \\\n  ')
}
