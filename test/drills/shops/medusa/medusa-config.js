// A Medusa shop with the plug-in, as a merchant writes it; its settings are in the environment.
const { defineConfig } = require('@medusajs/framework/utils')

const { DATABASE_URL, SHOP_URL, PAYMESH_KEY, PAYMESH_API, PAYMESH_SECRET, PAYMESH_ADMIN } = process.env
const paymesh = {
  apiKey: PAYMESH_KEY,
  baseUrl: PAYMESH_API,
  webhookSecret: PAYMESH_SECRET,
  dashboardUrl: PAYMESH_ADMIN,
  successUrl: `${SHOP_URL}/thanks`,
  cancelUrl: `${SHOP_URL}/cart`,
}
module.exports = defineConfig({
  projectConfig: {
    databaseUrl: DATABASE_URL,
    databaseDriverOptions: { ssl: false },
    http: { storeCors: SHOP_URL, adminCors: SHOP_URL, authCors: SHOP_URL, jwtSecret: 'drill', cookieSecret: 'drill' },
  },
  admin: { disable: true },
  plugins: [{ resolve: '@paymesh/medusa-plugin', options: paymesh }],
  modules: [
    {
      resolve: '@medusajs/medusa/payment',
      options: {
        providers: [{ resolve: '@paymesh/medusa-plugin/providers/paymesh', id: 'paymesh', options: paymesh }],
      },
    },
  ],
})
