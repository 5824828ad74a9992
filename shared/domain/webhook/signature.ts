/** The bytes that are signed: `<t>.<raw body>`, `t` in Unix seconds. */
export function signedText(t: number, body: Uint8Array): Uint8Array {
  const prefix = new TextEncoder().encode(`${t}.`)
  const text = new Uint8Array(prefix.length + body.length)
  text.set(prefix)
  text.set(body, prefix.length)
  return text
}

/** The value of `X-Webhook-Signature`: `t=<unix seconds>,v1=<hex digest>`. */
export function signatureHeader(t: number, hex: string): string {
  return `t=${t},v1=${hex}`
}
