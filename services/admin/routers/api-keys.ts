import { router } from '../trpc.ts'

export const apiKeysRouter = router({})
