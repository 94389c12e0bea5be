DROP INDEX "invoices_public";--> statement-breakpoint
CREATE INDEX "invoices_due" ON "invoices" USING btree ("due_date") WHERE billing_reason = 'manual' and status = 'open';--> statement-breakpoint
ALTER TABLE "invoices" DROP COLUMN "public_token";