import { router } from '../trpc.ts'

export const endpointsRouter = router({})
