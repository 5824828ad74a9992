import express, { type Express } from 'express'
import type { ServiceContext } from '#services/context.ts'

/** The payers' pages and what they ask for. It does not listen yet. */
export function createApp(_context: ServiceContext): Express {
  const app = express()
  app.disable('x-powered-by')
  return app
}
