import { z } from 'zod'
import { readPlainUrl } from '#shared/contracts/http/plain-url.ts'

/** A URL in settings: plain http is allowed (nodes are usually on the private network), other schemes are not. */
export const plainHttpUrl = z.string().superRefine((text, context) => {
  const { url, fault } = readPlainUrl(text)
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!isHttp) context.addIssue({ code: 'custom', message: fault ?? 'must be an http(s) URL', input: text })
})
