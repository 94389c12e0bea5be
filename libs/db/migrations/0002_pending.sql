DROP INDEX "payment_link_attempts_method";--> statement-breakpoint
ALTER TABLE "payment_link_attempts" ALTER COLUMN "method_hash" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "payment_link_attempts" ALTER COLUMN "payment_intent_id" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "payment_link_attempts" ADD COLUMN "account_id" uuid NOT NULL;--> statement-breakpoint
ALTER TABLE "payment_link_attempts" ADD COLUMN "try_number" integer NOT NULL;--> statement-breakpoint
ALTER TABLE "payment_links" ADD COLUMN "declines_since" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "dunning_end" text DEFAULT 'cancel' NOT NULL;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "charge_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "charging_invoice_id" uuid;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "charged_method_id" uuid;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "resuming" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "cancel_options" jsonb;--> statement-breakpoint
ALTER TABLE "webhook_endpoints" ADD COLUMN "dispatcher_open" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "payment_link_attempts_method" ON "payment_link_attempts" USING btree ("account_id","method_hash","created_at");--> statement-breakpoint
ALTER TABLE "payment_link_attempts" ADD CONSTRAINT "payment_link_attempts_try" UNIQUE("payment_intent_id","try_number");