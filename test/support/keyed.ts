import type mongoose from 'mongoose'
import { paymentKeyDigest } from '#shared/db/payments/payment-mapping.ts'

/** The fields under which a payment is unique, for tests that store rows themselves. */
export function keyed(key: string): { key: string; keyDigest: mongoose.mongo.Binary } {
  return { key, keyDigest: paymentKeyDigest(key) }
}
