import { generateSecret, generateURI, verify } from 'otplib'
import type { OneTimeCodes } from '#shared/ports/secrets.ts'

const PERIOD_S = 30
const ISSUER = 'Paymesh'
const CODE = /^\d{6}$/

/** Codes of authenticator apps. A clock that is one step off is accepted, as RFC 6238 §5.2 recommends. */
export function createOneTimeCodes(): OneTimeCodes {
  return {
    newSecret: () => generateSecret({ length: 20 }),
    uri: (secret, email) => generateURI({ issuer: ISSUER, label: email, secret }),
    stepOf: async (secret, code, at) => {
      const token = code.replaceAll(/\s/g, '')
      if (!CODE.test(token)) return null
      const epoch = Math.floor(at / 1_000)
      const found = await verify({ secret, token, epoch, period: PERIOD_S, epochTolerance: PERIOD_S })
      return found.valid && 'timeStep' in found ? found.timeStep : null
    },
  }
}
