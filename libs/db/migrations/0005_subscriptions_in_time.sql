CREATE TABLE "emails" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"customer_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"recipient" text NOT NULL,
	"fact_key" text NOT NULL,
	"invoice_id" uuid,
	"subscription_id" uuid,
	"payment_intent_id" uuid,
	"data" jsonb,
	"subject" text,
	"status" text NOT NULL,
	"reason" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp (3) with time zone,
	"claim_until" timestamp (6) with time zone,
	"message_id" text,
	"sent_at" timestamp (3) with time zone,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "emails_status" CHECK (status in ('pending','sent','failed','not_sent'))
);
--> statement-breakpoint
CREATE TABLE "test_clocks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"name" text,
	"status" text DEFAULT 'ready' NOT NULL,
	"frozen_time" timestamp (3) with time zone NOT NULL,
	"target_time" timestamp (3) with time zone,
	"advanced_from" timestamp (3) with time zone,
	"actions_done" integer DEFAULT 0 NOT NULL,
	"waiting_for" uuid,
	"failure_reason" text,
	"deleted_at" timestamp (3) with time zone,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "test_clocks_status" CHECK (status in ('ready','advancing','internal_failure')),
	CONSTRAINT "test_clocks_target" CHECK (status <> 'advancing' or target_time is not null)
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "dunning_policy" jsonb;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "email_settings" jsonb;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "billing_settings" jsonb;--> statement-breakpoint
ALTER TABLE "customers" ADD COLUMN "test_clock_id" uuid;--> statement-breakpoint
ALTER TABLE "invoice_items" ADD COLUMN "debit_item_id" uuid;--> statement-breakpoint
ALTER TABLE "invoice_items" ADD COLUMN "deleted_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "public_token" text;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "email_on_finalization" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "credited_atom" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "invoices" ADD COLUMN "reminder_sent_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "test_clock_id" uuid;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "dunning_policy" jsonb;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "upcoming_sent_for" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "emails_account" ON "emails" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "emails_customer" ON "emails" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "emails_due" ON "emails" USING btree ("next_attempt_at") WHERE status = 'pending';--> statement-breakpoint
CREATE UNIQUE INDEX "emails_fact" ON "emails" USING btree ("account_id","fact_key");--> statement-breakpoint
CREATE INDEX "test_clocks_account" ON "test_clocks" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "test_clocks_advancing" ON "test_clocks" USING btree ("updated_at") WHERE status = 'advancing';--> statement-breakpoint
CREATE INDEX "customers_clock" ON "customers" USING btree ("test_clock_id") WHERE test_clock_id is not null;--> statement-breakpoint
CREATE INDEX "invoice_items_pending" ON "invoice_items" USING btree ("customer_id","id") WHERE invoice_id is null and deleted_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "invoices_public" ON "invoices" USING btree ("public_token");--> statement-breakpoint
CREATE INDEX "subscriptions_clock" ON "subscriptions" USING btree ("test_clock_id","next_action_at") WHERE test_clock_id is not null and status <> 'cancelled';