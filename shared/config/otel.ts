import { z } from 'zod'

/** The names of OpenTelemetry's own samplers (specification "SDK environment variables", 1.50). */
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

/** Which traces are recorded. */
export type TraceSampler = (typeof SAMPLERS)[number]

/** A setting that names a sampler. */
export const traceSampler = z.enum(SAMPLERS)

/** The share of traces of a ratio sampler, 0 to 1. */
export const samplerShare = z
  .string()
  .regex(/^(0|1|0?\.\d{1,9}|1\.0+|0\.\d{1,9})$/, 'must be a number from 0 to 1')
  .transform(Number)

/** Header names as HTTP allows them (RFC 9110, section 5.6.2). */
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Visible ASCII and spaces inside. */
const VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/

/** `name=value,name=value`, values percent-encoded (OpenTelemetry specification "OTLP exporter", `OTEL_EXPORTER_OTLP_HEADERS`). */
export const otlpHeaders = z.string().transform((text, context) => {
  const headers: Record<string, string> = {}
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=')
    const name = pair.slice(0, at).trim().toLowerCase()
    const value = decoded(pair.slice(at + 1).trim())
    if (at < 1 || !HEADER.test(name) || value === null || !VALUE.test(value)) {
      context.addIssue({ code: 'custom', message: 'must be name=value pairs, separated by commas, percent-encoded' })
      return z.NEVER
    }
    headers[name] = value
  }
  return headers
})

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
