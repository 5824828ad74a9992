import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testCertificate } from '#test/support/test-certificate.ts'
import { forwardEvent, isTlsReason } from './forward-event.ts'

