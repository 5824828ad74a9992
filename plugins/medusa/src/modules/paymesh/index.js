import { Module } from '@medusajs/framework/utils'
import { PaymeshService } from './service.js'

// biome-ignore lint/style/noDefaultExport: Medusa loads a module by it.
export default Module('paymesh', { service: PaymeshService })
